#include "train/run_trace.h"

#include "base/host_name.h"
#include "comm/purpose.h"
#include "observe/clock_offset.h"
#include "run/trace_file.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace lockstep::internal::train {

namespace {

/// The earliest begin on any rank, on rank 0's clock.
double earliest(Group& group, const std::vector<observe::TraceEvent>& events, double offset) {
  std::vector<double> first{std::numeric_limits<double>::max()};
  for (const observe::TraceEvent& event : events)
    first[0] = std::min(first[0], event.begin + offset);
  group.all_reduce(first, ReduceOp::min);
  return first[0];
}

/// Every rank's text on rank 0; nothing elsewhere. A collective.
std::vector<std::string> gather_texts(Group& group, const std::string& mine) {
  const auto ranks = static_cast<std::size_t>(group.size());
  std::vector<std::int64_t> length{static_cast<std::int64_t>(mine.size())}, lengths(ranks);
  group.all_gather(length, lengths);
  std::vector<std::uint8_t> padded(mine.begin(), mine.end());
  padded.resize(static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end())));
  std::vector<std::uint8_t> all(group.rank() == 0 ? ranks * padded.size() : 0);
  group.gather(padded, all);

  std::vector<std::string> texts;
  for (std::size_t rank = 0; group.rank() == 0 && rank < ranks; ++rank) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rank * padded.size());
    texts.emplace_back(begin, begin + lengths[rank]);
  }
  return texts;
}

/// Every rank's on rank 0; nothing elsewhere. A collective.
std::vector<observe::ClockOffset> gather_clocks(Group& group, const observe::ClockOffset& mine) {
  const std::vector<double> numbers{mine.seconds, mine.uncertainty};
  std::vector<double> all(
      group.rank() == 0 ? numbers.size() * static_cast<std::size_t>(group.size()) : 0);
  group.gather(numbers, all);
  std::vector<observe::ClockOffset> clocks;
  for (std::size_t i = 0; i < all.size(); i += numbers.size())
    clocks.push_back({all[i], all[i + 1]});
  return clocks;
}

}  // namespace

RunTrace::RunTrace(Group group, Replica& replica, std::size_t iterations)
    : group_(std::move(group)), replica_(replica), left_(iterations) {
  if (iterations > 0) replica_.record_in(&trace_.emplace());
}

RunTrace::~RunTrace() {
  replica_.record_in(nullptr);
}

bool RunTrace::iteration_ended() {
  if (left_ == 0 || --left_ > 0) return false;
  replica_.record_in(nullptr);
  return true;
}

std::string RunTrace::collect() {
  const comm::PurposeMark mark(comm::Purpose::metrics);
  replica_.record_in(nullptr);
  left_ = 0;
  const std::vector<observe::TraceEvent> events = trace_->events();
  const observe::ClockOffset offset = observe::offset_to_rank_zero(group_);
  const double start = earliest(group_, events, offset.seconds);
  const std::string mine = run::chrome_events(events, {.rank = group_.rank(),
                                                       .host = host_name(),
                                                       .shift = offset.seconds - start,
                                                       .left_out = trace_->left_out()});
  trace_.reset();
  const std::vector<std::string> texts = gather_texts(group_, mine);
  const std::vector<observe::ClockOffset> clocks = gather_clocks(group_, offset);
  return group_.rank() == 0 ? run::chrome_trace(texts, clocks) : "";
}

}  // namespace lockstep::internal::train
