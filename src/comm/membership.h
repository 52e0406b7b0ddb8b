// Membership: a rank's place in a group, and the context it needs to connect to the others.
#pragma once

#include "comm/store.h"

#include <memory>
#include <string>
#include <vector>

namespace lockstep::internal::comm {

/// Context shared by all groups of a process within one run.
struct RunContext {
  std::shared_ptr<Store> store;  ///< shared by all groups of the run
  std::string token;             ///< authenticates connections of this run; may be empty
  /// The IPv4 address at which this host's listeners are reached.
  std::string address = "127.0.0.1";
  /// The run's identity, which ranks compare when they connect to each other; may be empty.
  std::string run{};
};

/// One rank's place in one group.
struct Membership {
  std::string group;         ///< the group's name: the same on all its ranks, unique in the run
  int rank = 0;              ///< this process's rank in the group
  std::vector<int> members;  ///< rank in the group → rank in the run
  /// rank in the group → its number in messages (its label); usually its rank in the group.
  std::vector<int> labels;

  int size() const { return static_cast<int>(members.size()); }
  int label() const { return labels[static_cast<std::size_t>(rank)]; }

  /// The group of all ranks of a run.
  static Membership world(int rank, int size);
};

/// Waits for a key that a rank of the group sets in the store. Throws like Store::get, with the
/// label of the rank in the message.
std::string get_from(const RunContext& run, const Membership& membership, int rank,
                     const std::string& key, const WaitLimit& limit);

}  // namespace lockstep::internal::comm
