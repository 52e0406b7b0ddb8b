// The request to lockstep-simulate: a network, and the steps of every rank. File format: the
// request, then for each rank the number of its steps as 64 bits, and the steps.
//
// lockstep-simulate is a separate program, because libsimgrid also defines MPI functions: it
// must not be in one process with Open MPI, which the library may be linked with. This header is
// all that both programs use.
#pragma once

#include "comm/recording/recorded_steps.h"

#include <array>
#include <cstdint>

namespace lockstep::internal::simulate {

enum class Topology : std::uint32_t {
  one_switch,  ///< every host has a link to one switch without contention
  fat_tree,    ///< switches of 16 hosts, each with 16 links to 16 upper switches
  dragonfly    ///< groups of 4 chassis of 4 routers of 4 hosts, one link between any two groups
};

/// Hosts per lower switch of a fat tree, and per group of a dragonfly.
constexpr std::uint32_t kHostsOfSwitch = 16;
constexpr std::uint32_t kHostsOfGroup = 64;

constexpr std::array<char, 8> kMagic{'l', 's', 's', 'i', 'm', '0', '0', '1'};

/// Seconds; see predict/network_model.h. Trivially copyable.
struct Request {
  std::array<char, 8> magic = kMagic;
  Topology topology = Topology::one_switch;
  std::uint32_t ranks = 1;
  std::uint32_t per_host = 1;
  std::uint32_t reserved = 0;
  double latency = 0;
  double per_byte = 0;
  double per_added = 0;
  double meeting = 0;
  double per_copied = 0;
  double slow_link = 1;  ///< factor by which the first host's link is slower
};

}  // namespace lockstep::internal::simulate
