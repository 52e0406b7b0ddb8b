#include "report/lane.h"

#include <algorithm>
#include <cmath>

namespace lockstep::internal::report {

double shown(double microseconds) {
  return std::round(microseconds * 10) / 10;
}

void Lane::add(const run::TraceFileEvent& event, double origin) {
  if (event.phase == 'e') {
    if (const auto begun = begun_.find(event.id); begun != begun_.end()) {
      run::TraceFileEvent& begin = spans_[begun->second].event;
      begin.length = event.start - origin - begin.start;
      begun_.erase(begun);
    }
    return;
  }
  run::TraceFileEvent moved = event;
  moved.start -= origin;
  if (event.phase == 'i') {
    marks_.push_back(std::move(moved));
    return;
  }
  if (event.phase == 'b') begun_[event.id] = spans_.size();
  spans_.push_back({std::move(moved), 0});
}

std::size_t Lane::arrange(std::size_t most) {
  const std::size_t before = spans_.size();
  if (before > most) {
    std::stable_sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
      const bool part_a = a.event.kind == "part", part_b = b.event.kind == "part";
      return part_a != part_b ? part_a : a.event.length > b.event.length;
    });
    spans_.resize(most);
  }
  std::stable_sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
    return a.event.start != b.event.start ? a.event.start < b.event.start
                                          : a.event.length > b.event.length;
  });
  std::vector<double> ends;  // end of the last span at each depth
  for (Span& span : spans_) {
    const auto free =
        std::find_if(ends.begin(), ends.end(), [&](double end) { return end <= span.event.start; });
    span.depth = static_cast<std::size_t>(free - ends.begin());
    if (free == ends.end())
      ends.push_back(span.end());
    else
      *free = span.end();
  }
  return before - spans_.size();
}

nlohmann::json Lane::to_json(int rank, const char* stream) const {
  nlohmann::json spans = nlohmann::json::array();
  for (const Span& span : spans_) {
    const run::TraceFileEvent& event = span.event;
    nlohmann::json json{{"name", event.name},
                        {"kind", event.kind},
                        {"start", shown(event.start)},
                        {"length", shown(event.length)},
                        {"depth", span.depth}};
    if (event.bytes > 0) json["bytes"] = std::llround(event.bytes);
    if (event.wait > 0) json["wait"] = shown(event.wait);
    if (!event.detail.empty()) json["detail"] = event.detail;
    spans.push_back(std::move(json));
  }
  nlohmann::json marks = nlohmann::json::array();
  for (const run::TraceFileEvent& mark : marks_)
    marks.push_back({{"name", mark.name}, {"at", shown(mark.start)}});
  return {{"rank", rank}, {"stream", stream}, {"spans", spans}, {"marks", marks}};
}

}  // namespace lockstep::internal::report
