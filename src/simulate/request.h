// What lockstep-simulate is asked: a network, and what every rank does on it. As a file: the
// request, then for each rank the number of its steps as 64 bits and the steps.
//
// A program of its own, because libsimgrid has MPI's functions too, other ones: it must never share
// a process with Open MPI, which the library may be linked with. They share this header alone.
#pragma once

#include "comm/recording/recorded_steps.h"

#include <array>
#include <cstdint>

namespace lockstep::simulate {

enum class Topology : std::uint32_t {
  one_switch,  ///< every host has a link to one switch, which never holds anyone up
  fat_tree,    ///< switches of 16 hosts, each with 16 links to 16 switches above them
  dragonfly    ///< groups of 4 chassis of 4 routers of 4 hosts, a link between any two groups
};

/// Hosts of a switch at the lower level of a fat tree, and of a group of a dragonfly.
constexpr std::uint32_t kHostsOfSwitch = 16;
constexpr std::uint32_t kHostsOfGroup = 64;

constexpr std::array<char, 8> kMagic{'l', 's', 's', 'i', 'm', '0', '0', '1'};

/// Seconds; see predict/network.h. Trivially copyable.
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
  double slow_link = 1;  ///< the first host's link is so many times as slow
};

}  // namespace lockstep::simulate
