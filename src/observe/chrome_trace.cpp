#include "observe/chrome_trace.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace lockstep::observe {

namespace {

constexpr int kTraining = 0, kCommunication = 1;

std::string_view category_of(EventKind kind) {
  switch (kind) {
    case EventKind::iteration:
      return "iteration";
    case EventKind::part:
      return "part";
    case EventKind::operation:
      return "operation";
    case EventKind::collective:
      return "collective";
    case EventKind::message:
      return "message";
    case EventKind::gradient:
      return "gradient";
    case EventKind::bucket:
      return "bucket";
  }
  return "unknown";
}

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string arguments_of(const TraceEvent& event) {
  switch (event.kind) {
    case EventKind::iteration:
      return fmt::format(R"({{"iteration":{}}})", event.number);
    case EventKind::collective:
      return fmt::format(R"({{"bytes":{},"algorithm":{},"wait_us":{:.3f}{}}})", event.bytes,
                         json_text(event.detail), event.wait * 1e6,
                         event.number >= 0 ? fmt::format(R"(,"bucket":{})", event.number) : "");
    case EventKind::message:
      return fmt::format(R"({{"bytes":{},"peer":{}}})", event.bytes, event.number);
    case EventKind::gradient:
      return fmt::format(R"({{"bytes":{},"parameter":{}}})", event.bytes, event.number);
    case EventKind::bucket:
      return fmt::format(R"({{"bytes":{},"bucket":{}}})", event.bytes, event.number);
    default:
      return "{}";
  }
}

/// What all records of an event begin with.
std::string head_of(const TraceEvent& event, const TraceOrigin& origin, double moment) {
  const bool communicates = event.kind == EventKind::collective || event.kind == EventKind::message;
  return fmt::format(R"({{"name":{},"cat":"{}","pid":{},"tid":{},"ts":{:.3f})",
                     json_text(event.name), category_of(event.kind), origin.rank,
                     communicates ? kCommunication : kTraining, (moment + origin.shift) * 1e6);
}

/// A collective begins by waiting for the slowest rank. (What little it waits later, until all have
/// written, is counted with that.)
std::string wait_of(const TraceEvent& event, const TraceOrigin& origin) {
  return fmt::format(
      R"({{"name":"wait","cat":"wait","pid":{},"tid":{},"ts":{:.3f},"ph":"X","dur":{:.3f},"args":{{}}}})",
      origin.rank, kCommunication, (event.begin + origin.shift) * 1e6,
      std::min(event.wait, event.end - event.begin) * 1e6);
}

std::string name_row(const TraceOrigin& origin, std::string_view what, int row,
                     std::string_view name) {
  return fmt::format(R"({{"name":"{}","ph":"M","ts":0,"pid":{},"tid":{},"args":{{"name":{}}}}})",
                     what, origin.rank, row, json_text(name));
}

}  // namespace

std::string chrome_events(std::span<const TraceEvent> events, const TraceOrigin& origin) {
  std::string text =
      name_row(origin, "process_name", 0, fmt::format("rank {} on {}", origin.rank, origin.host)) +
      ",\n" + name_row(origin, "thread_name", kTraining, "training") + ",\n" +
      name_row(origin, "thread_name", kCommunication, "communication");
  auto out = std::back_inserter(text);
  if (origin.left_out > 0)
    fmt::format_to(out, R"(,
{{"name":"process_labels","ph":"M","ts":0,"pid":{},"tid":0,"args":{{"labels":"{} later events left out"}}}})",
                   origin.rank, origin.left_out);
  std::size_t message = 0;  // begin and end of one that may overlap with others find each other so
  for (const TraceEvent& event : events) {
    const std::string head = head_of(event, origin, event.begin);
    const std::string arguments = arguments_of(event);
    if (event.kind == EventKind::gradient || event.kind == EventKind::bucket) {
      fmt::format_to(out, ",\n{},\"ph\":\"i\",\"s\":\"t\",\"args\":{}}}", head, arguments);
    } else if (event.kind == EventKind::message) {
      const std::string id = fmt::format("\"{}.{}\"", origin.rank, ++message);
      fmt::format_to(out, ",\n{},\"ph\":\"b\",\"id\":{},\"args\":{}}}", head, id, arguments);
      fmt::format_to(out, ",\n{},\"ph\":\"e\",\"id\":{}}}", head_of(event, origin, event.end), id);
    } else {
      fmt::format_to(out, ",\n{},\"ph\":\"X\",\"dur\":{:.3f},\"args\":{}}}", head,
                     (event.end - event.begin) * 1e6, arguments);
      if (event.wait > 0) fmt::format_to(out, ",\n{}", wait_of(event, origin));
    }
  }
  return text;
}

std::string chrome_trace(std::span<const std::string> events_by_rank,
                         std::span<const ClockOffset> clocks) {
  std::string text = "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"clock_offsets_us\":[";
  for (std::size_t rank = 0; rank < clocks.size(); ++rank)
    fmt::format_to(std::back_inserter(text),
                   R"({}{{"rank":{},"offset":{:.3f},"uncertainty":{:.3f}}})", rank > 0 ? "," : "",
                   rank, clocks[rank].seconds * 1e6, clocks[rank].uncertainty * 1e6);
  text += "]},\"traceEvents\":[\n";
  std::string_view separator;
  for (const std::string& events : events_by_rank) {
    if (events.empty()) continue;
    text += separator;
    text += events;
    separator = ",\n";
  }
  return text + "\n]}\n";
}

}  // namespace lockstep::observe
