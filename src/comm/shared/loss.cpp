#include "comm/shared/loss.h"

#include <fmt/format.h>

namespace lockstep::comm {

std::optional<Loss> loss_of(const SharedSpace& space, int rank) {
  const auto how = space.gone(rank);
  if (!how) return std::nullopt;
  const Blackboard board = space.blackboard();
  int culprit = rank;
  // Blame is passed on at most once a rank; the bound only guards against a circle.
  for (int step = 0; step < board.size(); ++step) {
    const int next = board.cell(culprit).blames.load(std::memory_order_acquire) - 1;
    if (next < 0) break;
    culprit = next;
  }
  if (culprit == rank) return Loss{rank, fmt::format("{} {}", board.describe(rank), *how)};
  return Loss{culprit,
              fmt::format("{} {}, and rank {} gave up because of it", board.describe(culprit),
                          space.gone(culprit).value_or("did not come in time"), rank)};
}

void blame(const Blackboard& board, int rank, int culprit) {
  board.cell(rank).blames.store(culprit + 1, std::memory_order_release);
}

}  // namespace lockstep::comm
