// Trace: what one rank did and when, written down while it happens, for people to look at. A run
// keeps one for its first iterations; chrome_trace.h makes a file of it.
#pragma once

#include "base/deadline.h"
#include "base/thread_annotations.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace lockstep::observe {

/// What kind of thing a trace event is, and what its `number` means.
enum class EventKind : std::uint8_t {
  iteration,   ///< number: which, from 1
  part,        ///< of an iteration: "forward"
  operation,   ///< of the engine: "aten::conv2d"; within a part or another operation
  collective,  ///< has bytes, detail: the algorithm, wait, number: which bucket it reduces, or -1
  message,     ///< has bytes, number: the peer. Messages may overlap
  gradient,    ///< a moment: the gradient called so is ready; has bytes, number: which parameter
  bucket       ///< a moment: the last gradient of a bucket is ready; has bytes, number: which
};

struct TraceEvent {
  EventKind kind = EventKind::part;
  std::string_view name = {};  ///< of an event in a trace: lives as long as that
  double begin = 0;            ///< seconds on the steady clock
  double end = 0;
  std::uint64_t bytes = 0;
  std::int64_t number = 0;
  double wait = 0;               ///< of a collective: seconds until the slowest rank had come
  std::string_view detail = {};  ///< must live as long as the program
};

/// Any thread may add. Its memory comes straight from the kernel, as events come: what is kept in
/// between the large arrays of a training step would keep malloc from using their places again.
class Trace {
 public:
  /// Room for so many events; it costs nothing until it is used. Those that come later are only
  /// counted.
  explicit Trace(std::size_t capacity = 1 << 18);

  /// Copies the name.
  void add(TraceEvent event);

  /// All events so far, in the order in which they ended.
  std::vector<TraceEvent> events() const;
  /// How many there was no room for.
  std::size_t left_out() const;

 private:
  /// The same text in memory of the trace's own.
  std::string_view own(std::string_view name) REQUIRES_LOCK(mutex_);

  mutable Mutex mutex_;
  const std::shared_ptr<std::byte> event_pages_, name_pages_;
  const std::span<TraceEvent> room_;
  std::size_t count_ GUARDED_BY(mutex_) = 0;  ///< of events, also those left out
  std::size_t name_bytes_ GUARDED_BY(mutex_) = 0;
  std::vector<std::string_view> names_ GUARDED_BY(mutex_);  ///< in name_pages_, sorted
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

}  // namespace lockstep::observe
