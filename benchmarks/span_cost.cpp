// span_cost: the cost of measuring an iteration. It records the spans, moments and collectives of
// one iteration of LeNet-5, without any work between them.
#include "observe/statistics.h"
#include "observe/trace.h"

#include <fmt/format.h>

#include <vector>

namespace {

using lockstep::internal::observe::Span;
using lockstep::internal::observe::Trace;

constexpr int kSpans = 6;        // an iteration and its five parts
constexpr int kMoments = 10;     // LeNet-5's parameters
constexpr int kCollectives = 2;  // a bucket, and the vote on stop requests

/// Seconds per iteration.
double seconds_of(Trace* trace) {
  constexpr int kIterations = 1000;
  double sum = 0;
  const double start = lockstep::internal::now_seconds();
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    for (int i = 0; i < kSpans; ++i) Span span(sum, trace, "backward");
    for (int i = 0; trace && i < kMoments + kCollectives; ++i)
      trace->add({.name = "features.0.weight", .begin = lockstep::internal::now_seconds()});
  }
  return (lockstep::internal::now_seconds() - start) / kIterations;
}

}  // namespace

int main() {
  std::vector<double> untraced, traced;
  for (int round = 0; round < 25; ++round) {
    Trace trace;
    untraced.push_back(seconds_of(nullptr));
    traced.push_back(seconds_of(&trace));
  }
  fmt::print(
      "{} spans of an iteration: {:.2f} us; traced, with {} moments and {} collectives: {:.2f} "
      "us\n",
      kSpans, 1e6 * lockstep::internal::observe::percentile(untraced, 0.5), kMoments, kCollectives,
      1e6 * lockstep::internal::observe::percentile(traced, 0.5));
}
