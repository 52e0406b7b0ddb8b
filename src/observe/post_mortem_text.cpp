#include "base/table/quantities.h"
#include "base/text.h"
#include "observe/post_mortem.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace lockstep::internal::observe {

namespace {

constexpr std::size_t kMostLines = 4;  // of each kind: causes, waits, damaged records

/// "rank 3", "ranks 0, 1 and 3".
std::string ranks_in_words(const std::vector<int>& ranks) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < ranks.size() && (i < kMost || ranks.size() == kMost + 1); ++i)
    numbers.push_back(std::to_string(ranks[i]));
  if (numbers.size() < ranks.size())
    numbers.push_back(fmt::format("{} more", ranks.size() - numbers.size()));
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", enumerate(numbers));
}

/// " in step 17"; empty if the program does not count steps.
std::string in_step(const FinalState& rank) {
  return rank.log.step > 0 ? fmt::format(" in step {}", rank.log.step) : "";
}

/// ", 3 ms after all_reduce #33 ended".
std::string after_last(const FinalState& rank, double until) {
  if (!rank.last) return ", before its first operation ended";
  const std::string after =
      until > rank.last->end ? in_seconds(until - rank.last->end) + " after" : "after";
  return fmt::format(", {} {} ended", after, in_words(*rank.last));
}

/// The step and operation in which a rank ended.
std::string where(const FinalState& rank, double until) {
  const std::string step = in_step(rank);
  if (rank.within) return fmt::format("{}, in {}", step, in_words(*rank.within));
  return step + after_last(rank, until);
}

/// The first rank that waited for the culprit; null if none did.
const FinalState* first_waiter(const PostMortem& found, int culprit) {
  for (const FinalState& rank : found.ranks)
    if (std::find(rank.waited_for.begin(), rank.waited_for.end(), culprit) != rank.waited_for.end())
      return &rank;
  return nullptr;
}

std::string of_stalled(const PostMortem& found, const FinalState& rank) {
  const FinalState* waiter = first_waiter(found, rank.rank());
  const std::string stalled = rank.who() + " stalled" + in_step(rank);
  if (rank.within && rank.within->under_way())
    return fmt::format("{}, in {}", stalled, in_words(*rank.within));
  if (!waiter) return stalled;
  return fmt::format("{}: it did not reach {} in time; {}", stalled, in_words(*waiter->within),
                     rank.last ? "its last finished operation was " + in_words(*rank.last)
                               : "it had not finished any operation");
}

std::string of_culprit(const PostMortem& found, int number) {
  const FinalState* rank = found.find(number);
  if (!rank) return fmt::format("rank {}, on another host, kept other ranks waiting", number);
  if (found.cause == Cause::stalled || !rank->outcome || rank->outcome->told)
    return of_stalled(found, *rank);
  std::string text =
      fmt::format("{} {}{}", rank->who(), rank->outcome->how(), where(*rank, rank->outcome->when));
  if (found.cause == Cause::left) text += ", while other ranks still needed it";
  return text;
}

/// Ranks that waited in one operation for the same ranks.
struct Waiters {
  std::vector<int> ranks;
  double longest = 0;
};

std::vector<std::string> of_waiters(const PostMortem& found) {
  // The key includes the group, because each group numbers its own operations.
  std::map<std::tuple<std::string, std::vector<int>, std::uint32_t>, Waiters> by_operation;
  for (const FinalState& rank : found.ranks) {
    if (rank.waited_for.empty()) continue;
    Waiters& waiters = by_operation[{in_words(*rank.within), rank.waited_for, rank.within->group}];
    waiters.ranks.push_back(rank.rank());
    waiters.longest = std::max(waiters.longest, rank.waited);
  }
  std::vector<std::string> lines;
  for (const auto& [what, waiters] : by_operation) {
    const auto& [operation, others, group] = what;
    std::string line = fmt::format("{} waited for {} in {}", ranks_in_words(waiters.ranks),
                                   ranks_in_words(others), operation);
    if (waiters.longest > 0)  // 0: not known
      line += fmt::format(", for {}{}", waiters.ranks.size() > 1 ? "up to " : "",
                          in_seconds(waiters.longest));
    lines.push_back(line);
  }
  return lines;
}

/// Adds at most kMostLines lines; the last one counts those left out.
void add_shortened(std::vector<std::string> more, std::vector<std::string>& lines) {
  if (more.size() > kMostLines) {
    const std::size_t left_out = more.size() - kMostLines + 1;
    more.resize(kMostLines - 1);
    more.push_back(fmt::format("and {} more like these", left_out));
  }
  lines.insert(lines.end(), more.begin(), more.end());
}

/// For a failure without a known cause: in which operation each rank was.
std::vector<std::string> of_all(const PostMortem& found) {
  std::map<std::string, std::vector<int>> by_place;
  for (const FinalState& rank : found.ranks)
    by_place[rank.within ? "in " + in_words(*rank.within) : "outside any operation"].push_back(
        rank.rank());
  std::vector<std::string> lines;
  for (const auto& [place, ranks] : by_place)
    lines.push_back(fmt::format("{} ended {}: no rank{} can be identified as the cause",
                                ranks_in_words(ranks), place,
                                found.elsewhere.empty() ? "" : " of this host"));
  return lines;
}

}  // namespace

std::string FinalState::who() const {
  if (!outcome) return fmt::format("rank {}", rank());
  const std::string host = outcome->host.empty() ? "" : " on " + outcome->host;
  return fmt::format("rank {} (pid {}{})", rank(), outcome->pid, host);
}

std::string in_words(const comm::FlightRecord& operation) {
  const std::string bytes = operation.bytes < 1000
                                ? counted(static_cast<double>(operation.bytes), "byte")
                                : in_bytes(static_cast<double>(operation.bytes));
  if (operation.is_message())
    return fmt::format("{} of {} {} rank {}", operation.name(), bytes,
                       operation.incoming ? "from" : "to", operation.peer);
  const std::string bucket =
      operation.bucket >= 0 ? fmt::format(" of bucket {}", operation.bucket) : "";
  const std::string size = operation.bytes > 0 ? fmt::format(" ({})", bytes) : "";
  return fmt::format("{} #{}{}{}", operation.name(), operation.sequence, bucket, size);
}

std::vector<std::string> PostMortem::verdict() const {
  std::vector<std::string> lines;
  std::vector<std::string> to_blame;
  for (int culprit : culprits) to_blame.push_back(of_culprit(*this, culprit));
  add_shortened(culprits.empty() ? of_all(*this) : to_blame, lines);
  if (!culprits.empty()) add_shortened(of_waiters(*this), lines);
  std::vector<std::string> damaged;
  for (const FinalState& rank : ranks)
    if (rank.log.damaged > 1)  // the rank may have ended while it wrote one record
      damaged.push_back(
          fmt::format("{} of the last operations of rank {} cannot be read: it overwrote them",
                      rank.log.damaged, rank.rank()));
  add_shortened(damaged, lines);
  if (!elsewhere.empty())
    lines.push_back(fmt::format("{} ran on other hosts: see the output of the launchers there",
                                ranks_in_words(elsewhere)));
  return lines;
}

}  // namespace lockstep::internal::observe
