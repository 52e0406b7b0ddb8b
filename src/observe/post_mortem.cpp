// How the cause is found:
//
// 1. A rank that ended on its own, with no failed operation before, is a cause. A rank whose
//    operation failed is a victim of another rank.
// 2. If no rank ended on its own, the operation that failed first decides. If it failed because a
//    peer was lost, that peer is the cause. If it reached its deadline, every rank that had not
//    arrived by then, and was not waiting itself, has stalled. Waits for messages are followed from
//    rank to rank.
// 3. Other errors have no cause beyond the rank that reported them.
#include "observe/post_mortem.h"

#include <algorithm>
#include <csignal>
#include <limits>
#include <set>

namespace lockstep::internal::observe {

namespace {

using comm::FlightRecord;
using Why = comm::FlightFailure::Why;

constexpr double kNever = std::numeric_limits<double>::infinity();

/// When a rank gave up waiting in an operation, or was killed in it.
double given_up(const FinalState& rank, const FlightRecord& operation) {
  if (!operation.under_way()) return operation.end;
  return rank.outcome && rank.outcome->when > 0 ? rank.outcome->when : kNever;
}

FinalState final_state(const comm::FlightLog& log, const launch::JobResult& result) {
  FinalState state{.log = log};
  for (const launch::Outcome& outcome : result.outcomes)
    if (outcome.rank == log.rank) state.outcome = outcome;
  for (const FlightRecord& record : log.records)
    if (!record.failed && !record.under_way() && (!state.last || record.end >= state.last->end))
      state.last = record;
  const double good = state.last ? state.last->end : 0;
  for (const FlightRecord& record : log.records)
    // A failed operation that was followed by a successful one did not end the rank.
    if (!state.within && (record.under_way() || (record.failed && record.end >= good)))
      state.within = record;
  return state;
}

class CauseSearch {
 public:
  explicit CauseSearch(PostMortem& found) : found_(found) {}

  void run() {
    if (!find_ended_ranks()) find_missing_ranks();
    for (FinalState& rank : found_.ranks) find_waits(rank);
    found_.moment = moment();
  }

 private:
  /// Returns whether a rank ended on its own.
  bool find_ended_ranks() {
    std::vector<const FinalState*> ended;
    for (const FinalState& rank : found_.ranks)
      if (rank.outcome && rank.outcome->failed() && !rank.outcome->told &&
          !(rank.within && rank.within->failed))
        ended.push_back(&rank);
    if (ended.empty()) return false;
    const bool by_signal = std::any_of(ended.begin(), ended.end(), was_killed);
    if (by_signal) std::erase_if(ended, [](const FinalState* rank) { return !was_killed(rank); });
    std::stable_sort(ended.begin(), ended.end(), [](const FinalState* a, const FinalState* b) {
      return a->outcome->when < b->outcome->when;
    });
    if (!by_signal) ended.resize(1);  // the others may have failed because of the first
    found_.cause = by_signal ? Cause::died : Cause::failed;
    for (const FinalState* rank : ended) found_.culprits.push_back(rank->rank());
    return true;
  }

  /// SIGABRT does not count: an uncaught exception ends a program that way.
  static bool was_killed(const FinalState* rank) {
    return rank->outcome->signal != 0 && rank->outcome->signal != SIGABRT;
  }

  void find_missing_ranks() {
    const FinalState* first = nullptr;
    for (const FinalState& rank : found_.ranks)
      if (rank.within && rank.within->failed && (!first || rank.within->end < first->within->end))
        first = &rank;
    if (!first) return;
    noticed_ = first->within->end;
    if (first->within->failure.why == Why::late) find_stalled_ranks(*first);
    if (first->within->failure.why == Why::lost) find_lost_rank(*first);
  }

  void find_stalled_ranks(const FinalState& first) {
    std::set<int> seen;
    std::set<int> roots;
    follow(first, seen, roots);
    if (roots.empty()) find_unresponsive_ranks(roots);
    found_.culprits.assign(roots.begin(), roots.end());
    if (std::any_of(roots.begin(), roots.end(), [&](int rank) { return found_.find(rank); }))
      found_.cause = Cause::stalled;
  }

  /// Follows the chain of lost peers: a rank that another one lost may have failed for the loss of
  /// a third.
  void find_lost_rank(const FinalState& first) {
    const FinalState* rank = &first;
    std::set<int> seen;
    while (rank && seen.insert(rank->rank()).second && rank->within && rank->within->failed) {
      const int blamed = rank->within->failure.blamed;
      if (blamed < 0) return;
      found_.culprits = {blamed};
      rank = found_.find(blamed);
    }
    if (!rank || !rank->outcome) return;  // nothing is known of ranks on other hosts
    found_.cause = rank->outcome->failed() ? Cause::failed : Cause::left;
  }

  /// Adds to `roots` the ranks at the end of `rank`'s chain of waits: those that waited for no
  /// rank.
  void follow(const FinalState& rank, std::set<int>& seen, std::set<int>& roots) {
    if (!seen.insert(rank.rank()).second) return;
    if (!rank.within || rank.within->begin > noticed_) {
      roots.insert(rank.rank());
      return;
    }
    for (int other : missing_in(*rank.within, rank.rank(), noticed_)) {
      if (const FinalState* known = found_.find(other))
        follow(*known, seen, roots);
      else
        roots.insert(other);
    }
  }

  /// For the case that all ranks had arrived, or wait for each other: adds the ranks that did not
  /// give up and had to be killed.
  void find_unresponsive_ranks(std::set<int>& roots) const {
    for (const FinalState& rank : found_.ranks)
      if ((!rank.outcome || rank.outcome->told) && rank.within && rank.within->under_way())
        roots.insert(rank.rank());
  }

  /// The ranks that had not arrived at an operation of `waiter` by `then`.
  std::vector<int> missing_in(const FlightRecord& operation, int waiter, double then) const {
    if (operation.is_message()) return {operation.peer};
    std::vector<int> missing;
    for (const FinalState& rank : found_.ranks)
      if (rank.rank() != waiter && is_member(rank, operation.group) &&
          !has_arrived(rank, operation, then))
        missing.push_back(rank.rank());
    return missing;
  }

  static bool is_member(const FinalState& rank, std::uint32_t group) {
    static const std::uint32_t kWorld = comm::group_mark("world");
    return group == kWorld ||
           std::any_of(rank.log.records.begin(), rank.log.records.end(),
                       [&](const FlightRecord& record) { return record.group == group; });
  }

  static bool has_arrived(const FinalState& rank, const FlightRecord& operation, double then) {
    return std::any_of(rank.log.records.begin(), rank.log.records.end(),
                       [&](const FlightRecord& record) {
                         return record.group == operation.group && !record.is_message() &&
                                record.sequence >= operation.sequence && record.begin <= then;
                       });
  }

  void find_waits(FinalState& rank) const {
    const auto is_culprit = [&](int other) {
      return std::find(found_.culprits.begin(), found_.culprits.end(), other) !=
             found_.culprits.end();
    };
    if (!rank.within || is_culprit(rank.rank())) return;
    const double until = given_up(rank, *rank.within);
    const bool lost = rank.within->failed && rank.within->failure.why == Why::lost;
    std::vector<int> missing = missing_in(*rank.within, rank.rank(), until);
    if (missing.empty() || lost) missing = culprits_within(rank.within->group);
    // If a culprit is among the missing ranks, the others were merely later.
    if (std::any_of(missing.begin(), missing.end(), is_culprit))
      std::erase_if(missing, [&](int other) { return !is_culprit(other); });
    rank.waited_for = missing;
    if (until < kNever) rank.waited = std::max(0.0, until - rank.within->begin);
  }

  /// The culprits that may be members of the group. Membership of ranks on other hosts is not
  /// known.
  std::vector<int> culprits_within(std::uint32_t group) const {
    std::vector<int> members;
    for (int culprit : found_.culprits)
      if (const FinalState* rank = found_.find(culprit); !rank || is_member(*rank, group))
        members.push_back(culprit);
    return members;
  }

  double moment() const {
    const FinalState* culprit =
        found_.culprits.empty() ? nullptr : found_.find(found_.culprits.front());
    if (culprit && found_.cause != Cause::stalled && culprit->outcome && culprit->outcome->when > 0)
      return culprit->outcome->when;
    double last = culprit ? last_action(*culprit) : 0;
    if (last > 0) return last;
    if (noticed_ < kNever) return noticed_;
    for (const FinalState& rank : found_.ranks) last = std::max(last, last_action(rank));
    return last;
  }

  /// Time of the rank's last recorded action; 0 if there is none.
  static double last_action(const FinalState& rank) {
    double last = 0;
    for (const FlightRecord& record : rank.log.records)
      last = std::max({last, record.begin, record.end});
    return last;
  }

  PostMortem& found_;
  double noticed_ = kNever;  ///< when the first operation failed
};

}  // namespace

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::died:
      return "died";
    case Cause::failed:
      return "failed";
    case Cause::left:
      return "left";
    case Cause::stalled:
      return "stalled";
    case Cause::unclear:
      break;
  }
  return "unclear";
}

const FinalState* PostMortem::find(int rank) const {
  const auto found = std::find_if(ranks.begin(), ranks.end(),
                                  [&](const FinalState& one) { return one.rank() == rank; });
  return found == ranks.end() ? nullptr : &*found;
}

std::optional<PostMortem> examine(const launch::JobResult& result) {
  PostMortem found;
  bool empty = true;
  for (const comm::FlightLog& log : result.flights) {
    found.ranks.push_back(final_state(log, result));
    empty = empty && log.records.empty();
  }
  if (empty) return std::nullopt;
  for (int rank = 0; rank < result.world_size; ++rank)
    if (!found.find(rank)) found.elsewhere.push_back(rank);
  CauseSearch(found).run();
  const bool waited = std::any_of(found.ranks.begin(), found.ranks.end(),
                                  [](const FinalState& rank) { return !rank.waited_for.empty(); });
  if (found.cause == Cause::failed && !waited) return std::nullopt;
  return found;
}

}  // namespace lockstep::internal::observe
