#include "report/trace_file.h"

#include <lockstep/error.h>

#include "report/fields.h"
#include "report/lines.h"

#include <fmt/format.h>

#include <string_view>

namespace lockstep::report {

namespace {

constexpr std::size_t kMostRanks = 1024;

/// The object on a line; empty for the lines around the events.
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

void for_each_event(const std::filesystem::path& file, bool iterations_only,
                    const std::function<void(const TraceFileEvent&)>& take) {
  for_each_line(file, [&](const Line& line) {
    const std::string_view text = object_on(line.text);
    if (text.empty()) return;
    if (iterations_only && text.find(R"("cat":"iteration")") == std::string_view::npos) return;
    const std::string source = fmt::format("{}: line {}", file.string(), line.number);
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_discarded())
      throw FileError(fmt::format("{}: not an event as Lockstep writes it", source));
    const Fields fields(json, source);
    const std::string phase = fields.text("ph");
    if (phase == "X" || phase == "b" || phase == "e" || phase == "i") take(event_of(fields, phase));
  });
}

}  // namespace lockstep::report
