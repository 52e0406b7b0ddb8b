// Lane: the events of one rank and one stream (training or communication) in a timeline.
#pragma once

#include "run/trace_file.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace lockstep::internal::report {

/// Rounds to 0.1 µs.
double shown(double microseconds);

class Lane {
 public:
  /// Adds an event. `origin` is the time that becomes 0. The end of an event whose begin was not
  /// added is ignored.
  void add(const run::TraceFileEvent& event, double origin);

  /// Sorts the spans, keeps at most `most` of them, and assigns each the smallest depth that is
  /// free when it starts. So a nested operation lies below its caller, and no spans overlap. The
  /// shortest operations are left out first, parts of the iteration last. Returns how many were
  /// left out.
  std::size_t arrange(std::size_t most);

  nlohmann::json to_json(int rank, const char* stream) const;

 private:
  struct Span {
    run::TraceFileEvent event;
    std::size_t depth = 0;

    double end() const { return event.start + event.length; }
  };

  std::vector<Span> spans_;
  std::map<std::string, std::size_t> begun_;  ///< indices of spans without an end yet, by id
  std::vector<run::TraceFileEvent> marks_;
};

}  // namespace lockstep::internal::report
