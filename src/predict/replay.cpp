#include "base/check.h"
#include "predict/pattern.h"

#include <algorithm>
#include <deque>
#include <map>
#include <queue>

namespace lockstep::internal::predict {

using comm::RecordedStep;
using comm::StepKind;

namespace {

constexpr double kNotYet = -1;

class Replay {
 public:
  Replay(const Pattern& pattern, const NetworkModel& network)
      : pattern_(pattern), network_(network), ranks_(pattern.ranks.size()), hosts_(hosts()) {}

  double run() {
    // The rank that is furthest behind is next, so that links are used in order of time.
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) awake_.push({0, rank});
    while (!awake_.empty()) {
      const std::size_t rank = awake_.top().second;
      awake_.pop();
      if (take_step(rank)) awake_.push({ranks_[rank].now, rank});
    }
    double end = 0;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      LOCKSTEP_CHECK(finished(rank), "rank {} waits forever", rank);
      end = std::max(end, ranks_[rank].now);
    }
    return end;
  }

 private:
  /// One side of a message.
  struct Side {
    std::size_t rank;
    std::size_t number;
    double ready;
  };
  struct Unmatched {
    std::deque<Side> sends, receives;
  };
  struct Rank {
    double now = 0;
    std::size_t next = 0;              ///< number of the next step
    std::vector<double> ends;          ///< by message; kNotYet until its peer has started it
    std::size_t waits_for = SIZE_MAX;  ///< number of a message
    double out_free = 0, in_free = 0;  ///< when its link is free, in each direction
  };
  struct Host {
    int here = 0;
    double last = 0;
  };
  using Moment = std::pair<double, std::size_t>;

  std::vector<Host> hosts() const {
    return std::vector<Host>(static_cast<std::size_t>(pattern_.world.hosts()));
  }
  std::size_t host_of(std::size_t rank) const {
    return rank / static_cast<std::size_t>(pattern_.world.per_host);
  }
  bool finished(std::size_t rank) const { return ranks_[rank].next == pattern_.ranks[rank].size(); }

  /// Returns false if the rank has ended, or must wait for another.
  bool take_step(std::size_t number) {
    if (finished(number)) return false;
    Rank& rank = ranks_[number];
    const RecordedStep& step = pattern_.ranks[number][rank.next];
    switch (step.kind) {
      case StepKind::send:
      case StepKind::receive:
        start(number, step);
        break;
      case StepKind::wait:
        if (rank.ends[static_cast<std::size_t>(step.peer)] == kNotYet) {
          rank.waits_for = static_cast<std::size_t>(step.peer);
          return false;
        }
        rank.now = std::max(rank.now, rank.ends[static_cast<std::size_t>(step.peer)]);
        break;
      case StepKind::add:
        rank.now += static_cast<double>(step.bytes) * network_.per_added;
        break;
      case StepKind::copy:
        rank.now += static_cast<double>(step.bytes) * network_.per_copied;
        break;
      case StepKind::meet:
        return meet(number);
    }
    ++rank.next;
    return true;
  }

  void start(std::size_t number, const RecordedStep& step) {
    Rank& rank = ranks_[number];
    const bool sends = step.kind == StepKind::send;
    const auto peer = static_cast<std::size_t>(step.peer);
    const Side mine{number, rank.ends.size(), rank.now};
    rank.ends.push_back(kNotYet);
    Unmatched& unmatched = waiting_[sends ? std::pair(number, peer) : std::pair(peer, number)];
    std::deque<Side>& others = sends ? unmatched.receives : unmatched.sends;
    if (others.empty()) return (sends ? unmatched.sends : unmatched.receives).push_back(mine);
    const Side other = others.front();
    others.pop_front();
    transfer(sends ? mine : other, sends ? other : mine, static_cast<double>(step.bytes));
  }

  void transfer(const Side& from, const Side& to, double bytes) {
    Rank& sender = ranks_[from.rank];
    Rank& receiver = ranks_[to.rank];
    const double start = std::max({from.ready, to.ready, sender.out_free, receiver.in_free});
    const double busy = start + bytes * network_.per_byte;
    sender.out_free = receiver.in_free = busy;
    for (const Side& side : {from, to}) {
      Rank& rank = ranks_[side.rank];
      rank.ends[side.number] = busy + network_.latency;
      if (rank.waits_for != side.number) continue;
      rank.waits_for = SIZE_MAX;
      awake_.push({std::max(rank.now, rank.ends[side.number]), side.rank});
    }
  }

  /// The last rank to arrive lets all continue.
  bool meet(std::size_t number) {
    Host& host = hosts_[host_of(number)];
    host.last = std::max(host.last, ranks_[number].now);
    if (++host.here < pattern_.world.per_host) return false;
    const auto ranks = static_cast<std::size_t>(pattern_.world.per_host);
    const std::size_t first = host_of(number) * ranks;
    for (std::size_t rank = first; rank < first + ranks; ++rank) {
      ranks_[rank].now = host.last + network_.meeting;
      ++ranks_[rank].next;
      if (rank != number) awake_.push({ranks_[rank].now, rank});
    }
    host = {};
    return true;
  }

  const Pattern& pattern_;
  const NetworkModel& network_;
  std::vector<Rank> ranks_;
  std::vector<Host> hosts_;
  std::priority_queue<Moment, std::vector<Moment>, std::greater<>> awake_;
  std::map<std::pair<std::size_t, std::size_t>, Unmatched> waiting_;  ///< by sender and receiver
};

}  // namespace

double replay(const Pattern& pattern, const NetworkModel& network) {
  return Replay(pattern, network).run();
}

}  // namespace lockstep::internal::predict
