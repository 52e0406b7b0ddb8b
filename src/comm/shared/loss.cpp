#include "comm/shared/loss.h"

#include <fmt/format.h>

#include <thread>

namespace lockstep::comm {

namespace {

/// The rank that messages call `label`, if it is one of this group's.
std::optional<int> rank_called(const Blackboard& board, int label) {
  for (int rank = 0; rank < board.size(); ++rank)
    if (board.label(rank) == label) return rank;
  return std::nullopt;
}

std::string end_of(const SharedSpace& space, int rank) {
  const auto departure = space.gone(rank);
  if (departure == Departure::left) return "left the group";
  // The launcher, if there is one, learns of a death a moment after we do. Who blames a rank may
  // know of its end before we do.
  const std::chrono::milliseconds patience(departure ? 1000 : 0);
  const std::string how = space.ending_of(rank, patience);
  if (!departure && how.empty()) return "did not come in time";
  return how.empty() ? "died" : "died: it " + how;
}

}  // namespace

std::optional<Loss> loss_of(const SharedSpace& space, int rank) {
  if (!space.gone(rank)) return std::nullopt;
  const Blackboard board = space.blackboard();
  int culprit = rank;
  std::string because;
  // Blame is passed on at most once a rank; the bound only guards against a circle.
  for (int step = 0; step < board.size(); ++step) {
    const int label = board.cell(culprit).blames.load(std::memory_order_acquire) - 1;
    if (label < 0) break;
    because = fmt::format(", and rank {} gave up because of it", board.label(rank));
    const auto next = rank_called(board, label);
    // It is on another host, whose ranks this memory does not know.
    if (!next) return Loss{label, false, fmt::format("rank {} is lost{}", label, because), ""};
    culprit = *next;
  }
  return Loss{board.label(culprit), space.gone(culprit) == Departure::died,
              fmt::format("{} {}{}", board.describe(culprit), end_of(space, culprit), because),
              board.cell(culprit).last_call()};
}

void blame(const Blackboard& board, int rank, int culprit) {
  board.cell(rank).blames.store(culprit + 1, std::memory_order_release);
}

std::vector<int> stuck_among(const Blackboard& board, int rank, const std::vector<int>& suspects) {
  if (suspects.empty()) return {};
  auto pulse = [&](int rank) { return board.cell(rank).pulse.load(std::memory_order_relaxed); };
  std::vector<std::uint32_t> before;
  for (int suspect : suspects) before.push_back(pulse(suspect));
  for (int slice = 0; slice < 4; ++slice) {
    std::this_thread::sleep_for(Doorbell::kSlice);
    show_waiting(board, rank);  // others may be asking the same
  }
  std::vector<int> stuck;
  for (std::size_t i = 0; i < suspects.size(); ++i)
    // Who has left keeps nobody waiting who does not wait for it, and that is a loss.
    if (pulse(suspects[i]) == before[i] &&
        board.cell(suspects[i]).presence.load(std::memory_order_acquire) != Presence::left)
      stuck.push_back(suspects[i]);
  return stuck;
}

std::optional<int> culprit_behind(const Blackboard& board, int rank, int peer) {
  if (!stuck_among(board, rank, {peer}).empty()) return peer;
  std::vector<int> others;
  for (int other = 0; other < board.size(); ++other)
    if (other != rank && other != peer) others.push_back(other);
  const std::vector<int> stuck = stuck_among(board, rank, others);
  return stuck.empty() ? std::nullopt : std::optional(stuck.front());
}

void show_waiting(const Blackboard& board, int rank) {
  board.cell(rank).pulse.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace lockstep::comm
