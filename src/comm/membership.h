// Membership: a rank's place in a group, and what it needs to meet the others.
#pragma once

#include "comm/store.h"

#include <memory>
#include <string>
#include <vector>

namespace lockstep::comm {

/// What all groups of one process in one run share.
struct RunContext {
  std::shared_ptr<Store> store;  ///< lives as long as the last group
  std::string token;             ///< proves that a connection comes from this run; may be empty
  std::string address =
      "127.0.0.1";  ///< the IPv4 address at which this host's listeners are reached
  /// The run's identity, which ranks compare when they connect to each other; may be empty.
  std::string run{};
};

/// One rank's place in one group.
struct Membership {
  std::string group;         ///< the group's name: the same on all its ranks, unique in the run
  int rank = 0;              ///< of this process in the group
  std::vector<int> members;  ///< rank in the group → rank in the run
  /// rank in the group → the number that messages call it by; usually its rank in the group.
  std::vector<int> labels;

  int size() const { return static_cast<int>(members.size()); }
  int label() const { return labels[static_cast<std::size_t>(rank)]; }

  /// The group of all ranks of a run.
  static Membership world(int rank, int size);
};

/// Waits for the key that a rank of the group sets in the store. Throws like Store::get, but with
/// the number that the group's messages call the rank by.
std::string get_from(const RunContext& run, const Membership& membership, int rank,
                     const std::string& key, const WaitLimit& limit);

}  // namespace lockstep::comm
