#include "comm/membership.h"

#include <numeric>

namespace lockstep::comm {

Membership Membership::world(int rank, int size) {
  Membership world{"world", rank, std::vector<int>(static_cast<std::size_t>(size)), {}};
  std::iota(world.members.begin(), world.members.end(), 0);
  world.labels = world.members;
  return world;
}

}  // namespace lockstep::comm
