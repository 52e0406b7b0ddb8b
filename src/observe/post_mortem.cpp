// How the verdict is found. A rank that ended by itself, without an operation that failed before,
// is a cause; one whose operation failed is a victim of others. Where nobody ended by himself, the
// first operation that failed is looked at. If it failed because somebody was lost, that is whom
// its rank blames. If it came to its deadline: whoever had not come by then, and was waiting for
// nobody else, has stalled. Whom one waits for may wait for another in turn, with messages: the
// search follows. Of errors of other kinds nobody is the cause but who made them, and he has told.
#include "observe/post_mortem.h"

#include <algorithm>
#include <csignal>
#include <limits>
#include <set>

namespace lockstep::observe {

namespace {

using comm::FlightRecord;
using Why = comm::FlightFailure::Why;

constexpr double kNever = std::numeric_limits<double>::infinity();

/// When a rank gave up waiting in an operation, or was ended in it.
double given_up(const LastMoments& rank, const FlightRecord& operation) {
  if (!operation.under_way()) return operation.end;
  return rank.outcome && rank.outcome->when > 0 ? rank.outcome->when : kNever;
}

LastMoments last_moments(const comm::FlightLog& log, const launch::JobResult& result) {
  LastMoments moments{.log = log};
  for (const launch::Outcome& outcome : result.outcomes)
    if (outcome.rank == log.rank) moments.outcome = outcome;
  for (const FlightRecord& record : log.records)
    if (!record.failed && !record.under_way() && (!moments.last || record.end >= moments.last->end))
      moments.last = record;
  const double good = moments.last ? moments.last->end : 0;
  for (const FlightRecord& record : log.records)
    // What failed before another went well was got over.
    if (!moments.within && (record.under_way() || (record.failed && record.end >= good)))
      moments.within = record;
  return moments;
}

class Examination {
 public:
  explicit Examination(PostMortem& found) : found_(found) {}

  void run() {
    if (!find_who_ended()) find_who_is_missed();
    for (LastMoments& rank : found_.ranks) find_waits(rank);
    found_.moment = moment();
  }

 private:
  /// Whether some rank ended by itself.
  bool find_who_ended() {
    std::vector<const LastMoments*> ended;
    for (const LastMoments& rank : found_.ranks)
      if (rank.outcome && rank.outcome->failed() && !rank.outcome->told &&
          !(rank.within && rank.within->failed))
        ended.push_back(&rank);
    if (ended.empty()) return false;
    const bool by_signal = std::any_of(ended.begin(), ended.end(), was_killed);
    if (by_signal) std::erase_if(ended, [](const LastMoments* rank) { return !was_killed(rank); });
    std::stable_sort(ended.begin(), ended.end(), [](const LastMoments* a, const LastMoments* b) {
      return a->outcome->when < b->outcome->when;
    });
    if (!by_signal) ended.resize(1);  // others may have followed it
    found_.cause = by_signal ? Cause::died : Cause::failed;
    for (const LastMoments* rank : ended) found_.culprits.push_back(rank->rank());
    return true;
  }

  /// An abort is how an uncaught exception ends a program.
  static bool was_killed(const LastMoments* rank) {
    return rank->outcome->signal != 0 && rank->outcome->signal != SIGABRT;
  }

  void find_who_is_missed() {
    const LastMoments* first = nullptr;
    for (const LastMoments& rank : found_.ranks)
      if (rank.within && rank.within->failed && (!first || rank.within->end < first->within->end))
        first = &rank;
    if (!first) return;
    noticed_ = first->within->end;
    if (first->within->failure.why == Why::late) find_who_stalled(*first);
    if (first->within->failure.why == Why::lost) find_who_was_lost(*first);
  }

  void find_who_stalled(const LastMoments& first) {
    std::set<int> seen;
    std::set<int> roots;
    follow(first, seen, roots);
    if (roots.empty()) find_stopped(roots);
    found_.culprits.assign(roots.begin(), roots.end());
    if (std::any_of(roots.begin(), roots.end(), [&](int rank) { return found_.find(rank); }))
      found_.cause = Cause::stalled;
  }

  /// Whom a rank blames may have given up because of another.
  void find_who_was_lost(const LastMoments& first) {
    const LastMoments* rank = &first;
    std::set<int> seen;
    while (rank && seen.insert(rank->rank()).second && rank->within && rank->within->failed) {
      const int blamed = rank->within->failure.blamed;
      if (blamed < 0) return;
      found_.culprits = {blamed};
      rank = found_.find(blamed);
    }
    if (!rank || !rank->outcome) return;  // on another host: nothing is known of it
    found_.cause = rank->outcome->failed() ? Cause::failed : Cause::left;
  }

  /// Adds to `roots` the ranks that `rank` waited for in the end and that waited for nobody.
  void follow(const LastMoments& rank, std::set<int>& seen, std::set<int>& roots) {
    if (!seen.insert(rank.rank()).second) return;
    if (!rank.within || rank.within->begin > noticed_) {
      roots.insert(rank.rank());
      return;
    }
    for (int other : missing_in(*rank.within, rank.rank(), noticed_)) {
      if (const LastMoments* known = found_.find(other))
        follow(*known, seen, roots);
      else
        roots.insert(other);
    }
  }

  /// All had come, or wait for each other: then whoever did not give up, and had to be ended.
  void find_stopped(std::set<int>& roots) const {
    for (const LastMoments& rank : found_.ranks)
      if ((!rank.outcome || rank.outcome->told) && rank.within && rank.within->under_way())
        roots.insert(rank.rank());
  }

  /// Who had not come to an operation of `waiter` by then.
  std::vector<int> missing_in(const FlightRecord& operation, int waiter, double then) const {
    if (operation.is_message()) return {operation.peer};
    std::vector<int> missing;
    for (const LastMoments& rank : found_.ranks)
      if (rank.rank() != waiter && is_member(rank, operation.group) &&
          !has_come(rank, operation, then))
        missing.push_back(rank.rank());
    return missing;
  }

  static bool is_member(const LastMoments& rank, std::uint32_t group) {
    static const std::uint32_t kWorld = comm::group_mark("world");
    return group == kWorld ||
           std::any_of(rank.log.records.begin(), rank.log.records.end(),
                       [&](const FlightRecord& record) { return record.group == group; });
  }

  static bool has_come(const LastMoments& rank, const FlightRecord& operation, double then) {
    return std::any_of(rank.log.records.begin(), rank.log.records.end(),
                       [&](const FlightRecord& record) {
                         return record.group == operation.group && !record.is_message() &&
                                record.sequence >= operation.sequence && record.begin <= then;
                       });
  }

  void find_waits(LastMoments& rank) const {
    const auto is_culprit = [&](int other) {
      return std::find(found_.culprits.begin(), found_.culprits.end(), other) !=
             found_.culprits.end();
    };
    if (!rank.within || is_culprit(rank.rank())) return;
    const double until = given_up(rank, *rank.within);
    const bool lost = rank.within->failed && rank.within->failure.why == Why::lost;
    std::vector<int> missing = missing_in(*rank.within, rank.rank(), until);
    if (missing.empty() || lost) missing = culprits_within(rank.within->group);
    // A rank that only came late is not to blame beside one that never could.
    if (std::any_of(missing.begin(), missing.end(), is_culprit))
      std::erase_if(missing, [&](int other) { return !is_culprit(other); });
    rank.waited_for = missing;
    if (until < kNever) rank.waited = std::max(0.0, until - rank.within->begin);
  }

  /// Whoever may have ended within an operation of the group: of other hosts' ranks one cannot
  /// tell.
  std::vector<int> culprits_within(std::uint32_t group) const {
    std::vector<int> members;
    for (int culprit : found_.culprits)
      if (const LastMoments* rank = found_.find(culprit); !rank || is_member(*rank, group))
        members.push_back(culprit);
    return members;
  }

  double moment() const {
    const LastMoments* culprit =
        found_.culprits.empty() ? nullptr : found_.find(found_.culprits.front());
    if (culprit && found_.cause != Cause::stalled && culprit->outcome && culprit->outcome->when > 0)
      return culprit->outcome->when;
    double last = culprit ? last_sign(*culprit) : 0;
    if (last > 0) return last;
    if (noticed_ < kNever) return noticed_;
    for (const LastMoments& rank : found_.ranks) last = std::max(last, last_sign(rank));
    return last;
  }

  /// Of life; 0 if there is none.
  static double last_sign(const LastMoments& rank) {
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

const LastMoments* PostMortem::find(int rank) const {
  const auto found = std::find_if(ranks.begin(), ranks.end(),
                                  [&](const LastMoments& one) { return one.rank() == rank; });
  return found == ranks.end() ? nullptr : &*found;
}

std::optional<PostMortem> examine(const launch::JobResult& result) {
  PostMortem found;
  bool empty = true;
  for (const comm::FlightLog& log : result.flights) {
    found.ranks.push_back(last_moments(log, result));
    empty = empty && log.records.empty();
  }
  if (empty) return std::nullopt;
  for (int rank = 0; rank < result.world_size; ++rank)
    if (!found.find(rank)) found.elsewhere.push_back(rank);
  Examination(found).run();
  const bool waited = std::any_of(found.ranks.begin(), found.ranks.end(),
                                  [](const LastMoments& rank) { return !rank.waited_for.empty(); });
  if (found.cause == Cause::failed && !waited) return std::nullopt;
  return found;
}

}  // namespace lockstep::observe
