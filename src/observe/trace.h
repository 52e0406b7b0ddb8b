// Trace: what one rank did and when, written down while it happens, for people to look at. A run
// keeps one for its first iterations; chrome_trace.h makes a file of it.
#pragma once

#include "base/deadline.h"
#include "base/thread_annotations.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::observe {

/// What kind of thing a trace event is, and what its `number` means.
enum class EventKind : std::uint8_t {
  iteration,   ///< number: which, from 1
  part,        ///< of an iteration: "forward"
  operation,   ///< of the engine: "aten::conv2d"; within a part or another operation
  collective,  ///< has bytes, detail: the algorithm, wait
  message,     ///< has bytes, number: the peer. Messages may overlap
  gradient     ///< a moment: the gradient called so is ready; has bytes, number: which parameter
};

struct TraceEvent {
  EventKind kind = EventKind::part;
  std::string name = {};
  double begin = 0;  ///< seconds on the steady clock
  double end = 0;
  std::uint64_t bytes = 0;
  std::int64_t number = 0;
  double wait = 0;               ///< of a collective: seconds until the slowest rank had come
  std::string_view detail = {};  ///< must live as long as the program
};

/// Any thread may add.
class Trace {
 public:
  void add(TraceEvent event) {
    Lock lock(mutex_);
    events_.push_back(std::move(event));
  }

  /// All events so far, in the order in which they ended; the trace is empty then.
  std::vector<TraceEvent> take() {
    Lock lock(mutex_);
    return std::exchange(events_, {});
  }

 private:
  Mutex mutex_;
  std::vector<TraceEvent> events_ GUARDED_BY(mutex_);
};

/// Adds the time from its making to its end to a sum; and to a trace, if there is one.
class Span {
 public:
  explicit Span(double& sum, Trace* trace = nullptr, std::string_view name = {},
                EventKind kind = EventKind::part, std::int64_t number = 0)
      : sum_(sum),
        trace_(trace),
        name_(name),
        kind_(kind),
        number_(number),
        start_(now_seconds()) {}
  ~Span() {
    const double end = now_seconds();
    sum_ += end - start_;
    if (trace_)
      trace_->add({.kind = kind_,
                   .name = std::string(name_),
                   .begin = start_,
                   .end = end,
                   .number = number_});
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  double& sum_;
  Trace* const trace_;
  const std::string_view name_;
  const EventKind kind_;
  const std::int64_t number_;
  const double start_;
};

}  // namespace lockstep::observe
