// Trace: the events of one rank with their times, recorded during the first iterations of a run.
// run/trace_file.h writes it to a file.
#pragma once

#include "base/deadline.h"
#include "base/thread_annotations.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace lockstep::internal::observe {

/// The kind of a trace event, and the meaning of its `number`.
enum class EventKind : std::uint8_t {
  iteration,   ///< number: the iteration, from 1
  part,        ///< a part of an iteration, such as "forward"
  operation,   ///< an operation of the engine, such as "aten::conv2d"; nested in a part
  collective,  ///< has bytes, wait, detail (the algorithm); number: bucket that it reduces, or -1
  message,     ///< has bytes; number: the peer. Messages may overlap
  gradient,    ///< instant: the gradient `name` is ready; has bytes; number: the parameter
  bucket       ///< instant: the last gradient of a bucket is ready; has bytes; number: the bucket
};

struct TraceEvent {
  EventKind kind = EventKind::part;
  std::string_view name = {};  ///< valid as long as the trace that returned the event
  double begin = 0;            ///< seconds on the steady clock
  double end = 0;
  std::uint64_t bytes = 0;
  std::int64_t number = 0;
  double wait = 0;               ///< of a collective: seconds until the slowest rank arrived
  std::string_view detail = {};  ///< must have static lifetime
};

/// Thread-safe. Memory is mapped page by page as events arrive, and not taken from malloc: small
/// blocks between the large arrays of a training step would fragment the heap.
class Trace {
 public:
  /// Keeps up to `capacity` events and only counts further ones. Memory that is not used yet costs
  /// nothing.
  explicit Trace(std::size_t capacity = 1 << 18);

  /// Copies the name.
  void add(TraceEvent event);

  /// All events so far, ordered by their end.
  std::vector<TraceEvent> events() const;
  /// Number of events beyond the capacity.
  std::size_t left_out() const;

 private:
  /// A copy of the name in name_pages_; equal names share one copy.
  std::string_view own(std::string_view name) REQUIRES_LOCK(mutex_);

  mutable Mutex mutex_;
  const std::shared_ptr<std::byte> event_pages_, name_pages_;
  const std::span<TraceEvent> room_;
  std::size_t count_ GUARDED_BY(mutex_) = 0;  ///< events added, including those left out
  std::size_t name_bytes_ GUARDED_BY(mutex_) = 0;
  std::vector<std::string_view> names_ GUARDED_BY(mutex_);  ///< views into name_pages_, sorted
};

/// Adds its lifetime in seconds to a sum, and to a trace if there is one.
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
      trace_->add({.kind = kind_, .name = name_, .begin = start_, .end = end, .number = number_});
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

}  // namespace lockstep::internal::observe
