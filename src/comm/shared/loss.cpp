#include "comm/shared/loss.h"

#include <fmt/format.h>

namespace lockstep::comm {

namespace {

std::string_view text_of(std::optional<Departure> departure) {
  if (!departure) return "did not come in time";
  return *departure == Departure::died ? "died" : "left the group";
}

}  // namespace

std::optional<Loss> loss_of(const SharedSpace& space, int rank) {
  if (!space.gone(rank)) return std::nullopt;
  const Blackboard board = space.blackboard();
  int culprit = rank;
  // Blame is passed on at most once a rank; the bound only guards against a circle.
  for (int step = 0; step < board.size(); ++step) {
    const int next = board.cell(culprit).blames.load(std::memory_order_acquire) - 1;
    if (next < 0) break;
    culprit = next;
  }
  const auto its_end = space.gone(culprit);
  Loss loss{culprit, its_end == Departure::died,
            fmt::format("{} {}", board.describe(culprit), text_of(its_end))};
  if (culprit != rank) loss.what += fmt::format(", and rank {} gave up because of it", rank);
  return loss;
}

void blame(const Blackboard& board, int rank, int culprit) {
  board.cell(rank).blames.store(culprit + 1, std::memory_order_release);
}

}  // namespace lockstep::comm
