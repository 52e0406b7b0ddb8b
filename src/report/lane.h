// Lane: what one rank did in one stream during the iteration that a timeline shows.
#pragma once

#include "report/trace_file.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace lockstep::report {

/// To a tenth of a microsecond.
double shown(double microseconds);

class Lane {
 public:
  /// `origin` is the moment that becomes 0. The end of something whose begin was not added is
  /// passed over.
  void add(const TraceFileEvent& event, double origin);

  /// Brings the spans in order, leaves out the shortest above `most`, and finds the depth of each:
  /// the least at which nothing goes on when it begins. An operation lies below the one that called
  /// it, and no span covers another. Returns how many were left out. Parts of the iteration go
  /// last.
  std::size_t arrange(std::size_t most);

  nlohmann::json to_json(int rank, const char* stream) const;

 private:
  struct Span {
    TraceFileEvent event;
    std::size_t depth = 0;

    double end() const { return event.start + event.length; }
  };

  std::vector<Span> spans_;
  std::map<std::string, std::size_t> begun_;  ///< those without an end yet, by id
  std::vector<TraceFileEvent> marks_;
};

}  // namespace lockstep::report
