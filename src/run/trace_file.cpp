#include "run/trace_file.h"

#include <lockstep/error.h>

#include "base/file_lines.h"
#include "run/fields.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace lockstep::internal::run {

namespace {

using observe::EventKind;
using observe::TraceEvent;

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

/// The fields that every record of an event starts with, without the closing brace.
std::string head_of(const TraceEvent& event, const TraceOrigin& origin, double moment) {
  const bool communicates = event.kind == EventKind::collective || event.kind == EventKind::message;
  return fmt::format(R"({{"name":{},"cat":"{}","pid":{},"tid":{},"ts":{:.3f})",
                     json_text(event.name), category_of(event.kind), origin.rank,
                     communicates ? kCommunication : kTraining, (moment + origin.shift) * 1e6);
}

/// The event for the time that a collective waits. It is drawn at the start of the collective,
/// where ranks wait for the slowest one; later waits are short and included.
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

constexpr std::size_t kMostRanks = 1024;

/// The event on a line; empty for the first and the last line of the file.
std::string_view object_on(std::string_view line) {
  if (line.starts_with("{\"displayTimeUnit\"") || line.starts_with("]")) return {};
  if (line.ends_with(",")) line.remove_suffix(1);
  return line;
}

std::string detail_of(const Fields& arguments) {
  if (arguments.json().contains("peer")) return fmt::format("rank {}", arguments.count("peer"));
  return arguments.text("algorithm");
}

TraceFileEvent event_of(const Fields& fields, const std::string& phase) {
  TraceFileEvent event;
  event.name = fields.text("name");
  event.kind = fields.text("cat");
  event.phase = phase.front();
  const std::size_t rank = fields.count("pid");
  const std::size_t row = fields.count("tid");
  if (rank >= kMostRanks) fields.fail("pid", "a rank");
  if (row > 1) fields.fail("tid", "a row that Lockstep writes");
  event.rank = static_cast<int>(rank);
  event.row = static_cast<int>(row);
  event.start = fields.number("ts").value_or(0);
  event.length = fields.number("dur").value_or(0);
  event.id = fields.text("id");
  const Fields arguments = fields.object("args");
  event.bytes = arguments.number("bytes").value_or(0);
  event.wait = arguments.number("wait_us").value_or(0);
  event.detail = detail_of(arguments);
  if (event.kind == "iteration")
    event.iteration = static_cast<std::int64_t>(arguments.count("iteration"));
  if (event.kind == "gradient")
    event.parameter = static_cast<std::int64_t>(arguments.count("parameter"));
  return event;
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
  std::size_t message = 0;  // number in the id that links the begin and the end of a message
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
                         std::span<const observe::ClockOffset> clocks) {
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

void for_each_event(const std::filesystem::path& file, bool iterations_only,
                    const std::function<void(const TraceFileEvent&)>& take) {
  for_each_line(file, [&](const FileLine& line) {
    const std::string_view text = object_on(line.text);
    if (text.empty()) return;
    if (iterations_only && text.find(R"("cat":"iteration")") == std::string_view::npos) return;
    const std::string source = fmt::format("{}: line {}", file.string(), line.number);
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_discarded())
      throw FileError(fmt::format("{}: not a trace event: the file was damaged or edited", source));
    const Fields fields(json, source);
    const std::string phase = fields.text("ph");
    if (phase == "X" || phase == "b" || phase == "e" || phase == "i") take(event_of(fields, phase));
  });
}

}  // namespace lockstep::internal::run
