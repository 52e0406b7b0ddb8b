#include "comm/shared/lost_rank.h"

#include "base/sleep.h"

#include <fmt/format.h>

namespace lockstep::internal::comm {

namespace {

/// The rank with this label, if it belongs to this group.
std::optional<int> rank_called(const GroupMemory& group_memory, int label) {
  for (int rank = 0; rank < group_memory.size(); ++rank)
    if (group_memory.label(rank) == label) return rank;
  return std::nullopt;
}

std::string end_of(const SharedSpace& space, int rank) {
  const auto departure = space.gone(rank);
  if (departure == Departure::left) return "left the group";
  // The launcher, if there is one, learns of a death slightly later than this rank. A rank that
  // named the dead rank as its cause may know of the death before this rank does.
  const std::chrono::milliseconds timeout(departure ? 1000 : 0);
  const std::string how = space.ending_of(rank, timeout);
  if (!departure && how.empty()) return "did not arrive in time";
  return how.empty() ? "died" : "died: it " + how;
}

}  // namespace

std::optional<LostRank> find_lost_rank(const SharedSpace& space, int rank) {
  if (!space.gone(rank)) return std::nullopt;
  const GroupMemory group_memory = space.group_memory();
  int culprit = rank;
  std::string because;
  // Every rank names at most one cause; the bound only guards against a cycle.
  for (int step = 0; step < group_memory.size(); ++step) {
    const int label =
        group_memory.rank_state(culprit).gave_up_because_of.load(std::memory_order_acquire) - 1;
    if (label < 0) break;
    because = fmt::format(", and rank {} gave up because of it", group_memory.label(rank));
    const auto next = rank_called(group_memory, label);
    // The rank is on another host, whose ranks are not in this memory.
    if (!next) return LostRank{label, false, fmt::format("rank {} is lost{}", label, because), ""};
    culprit = *next;
  }
  return LostRank{
      group_memory.label(culprit), space.gone(culprit) == Departure::died,
      fmt::format("{} {}{}", group_memory.describe(culprit), end_of(space, culprit), because),
      group_memory.rank_state(culprit).last_call()};
}

void record_cause(const GroupMemory& group_memory, int rank, int culprit) {
  group_memory.rank_state(rank).gave_up_because_of.store(culprit + 1, std::memory_order_release);
}

std::vector<int> stuck_among(const GroupMemory& group_memory, int rank,
                             const std::vector<int>& suspects) {
  if (suspects.empty()) return {};
  auto wait_count = [&](int rank) {
    return group_memory.rank_state(rank).wait_count.load(std::memory_order_relaxed);
  };
  std::vector<std::uint32_t> before;
  for (int suspect : suspects) before.push_back(wait_count(suspect));
  for (int slice = 0; slice < 4; ++slice) {
    sleep_for(EventCount::kSlice);
    show_waiting(group_memory, rank);  // other ranks may be checking at the same time
  }
  std::vector<int> stuck;
  for (std::size_t i = 0; i < suspects.size(); ++i)
    // A rank that has left does not delay ranks that do not wait for it; for ranks that do, it is
    // lost.
    if (wait_count(suspects[i]) == before[i] &&
        group_memory.rank_state(suspects[i]).presence.load(std::memory_order_acquire) !=
            Presence::left)
      stuck.push_back(suspects[i]);
  return stuck;
}

std::optional<int> culprit_behind(const GroupMemory& group_memory, int rank, int peer) {
  if (!stuck_among(group_memory, rank, {peer}).empty()) return peer;
  std::vector<int> others;
  for (int other = 0; other < group_memory.size(); ++other)
    if (other != rank && other != peer) others.push_back(other);
  const std::vector<int> stuck = stuck_among(group_memory, rank, others);
  return stuck.empty() ? std::nullopt : std::optional(stuck.front());
}

void show_waiting(const GroupMemory& group_memory, int rank) {
  group_memory.rank_state(rank).wait_count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace lockstep::internal::comm
