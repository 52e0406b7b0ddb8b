#include "comm/membership.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <numeric>

namespace lockstep::internal::comm {

Membership Membership::world(int rank, int size) {
  Membership world{"world", rank, std::vector<int>(static_cast<std::size_t>(size)), {}};
  std::iota(world.members.begin(), world.members.end(), 0);
  world.labels = world.members;
  return world;
}

std::string get_from(const RunContext& run, const Membership& membership, int rank,
                     const std::string& key, const WaitLimit& limit) {
  const int owner = membership.members[static_cast<std::size_t>(rank)];
  const int label = membership.labels[static_cast<std::size_t>(rank)];
  try {
    return run.store->get(key, limit, owner);
  } catch (const PeerLostError& lost) {
    if (label == owner) throw;
    throw PeerLostError(label, fmt::format("{}; it is rank {} of the group '{}'", lost.what(),
                                           label, membership.group));
  } catch (const TimeoutError& late) {
    throw TimeoutError(late.what(), label);
  }
}

}  // namespace lockstep::internal::comm
