// Loss: the rank that is to blame when another one is gone. The death of one rank makes its peers
// give up one after another; each of them must name the one that died, not the one that gave up
// just before it.
#pragma once

#include "comm/shared/shared_space.h"

#include <optional>
#include <string>

namespace lockstep::comm {

struct Loss {
  int rank = -1;      ///< the one to blame
  bool died = false;  ///< rather than left, or came late
  std::string what;   ///< "rank 2 (pid 4711 on host) died"
};

/// If `rank` is gone: who is to blame, itself or whoever made it give up.
std::optional<Loss> loss_of(const SharedSpace& space, int rank);

/// Notes that `rank` gives up because of `culprit`. Call it before leaving the group.
void blame(const Blackboard& board, int rank, int culprit);

}  // namespace lockstep::comm
