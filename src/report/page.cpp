#include "report/page.h"

#include "base/date.h"
#include "base/version.h"
#include "report/headline.h"
#include "report/methods.h"
#include "report/run_json.h"
#include "report/tables.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::report {

namespace {

using nlohmann::json;

/// Divides the limits of a page among its curves and lanes.
RunLimits limits_per_run(const Source& source, const PageLimits& limits) {
  std::size_t curves = 1, lanes = 1;
  constexpr std::size_t kRanks = TimelineLimits{}.ranks;
  for (const Run& run : source.runs) {
    const std::size_t ranks = std::max(run.metrics.ranks.size(), std::size_t{1});
    curves += ranks;
    lanes += 2 * std::min(ranks, kRanks);
  }
  RunLimits of_run;
  of_run.points = std::clamp<std::size_t>(limits.points / curves, 10, limits.points_of_a_curve);
  of_run.timeline.spans = std::clamp<std::size_t>(limits.spans / lanes, 40, limits.spans_of_a_lane);
  return of_run;
}

/// Checks the types of the fields that describe command, version and machine. Throws FileError.
void check_provenance(const run::Fields& fields) {
  fields.text("command");
  fields.text("version");
  const run::Fields machine = fields.object("machine");
  machine.text("processor");
  machine.text("system");
  machine.count("cores");
  machine.count("memory_bytes");
}

/// A field about command, version or machine: that of the study's file, or the value that all runs
/// have in common. null if there is none.
json provenance_of(const Source& source, const char* field) {
  if (source.study && source.study->json().contains(field)) return source.study->json()[field];
  const json value = source.runs.front().config.json().value(field, json());
  for (const Run& run : source.runs)
    if (run.config.json().value(field, json()) != value) return nullptr;
  return value;
}

}  // namespace

json page_json(const Source& source, const PageLimits& limits) {
  const RunLimits run_limits = limits_per_run(source, limits);
  for (const Run& run : source.runs) check_provenance(run.config);
  if (source.study) check_provenance(*source.study);
  std::vector<std::string> notes = notes_of(source);
  json runs = json::array();
  LeftOut left_out;
  for (const Run& run : source.runs) runs.push_back(run_json(run, run_limits, left_out));
  for (std::string& note : left_out.notes()) notes.push_back(std::move(note));
  json page{{"format", run::kFormat},
            {"kind", source.kind},
            {"title", title_of(source)},
            {"command", provenance_of(source, "command")},
            {"version", provenance_of(source, "version")},
            {"machine", provenance_of(source, "machine")},
            {"made", utc_date()},
            {"verdict", verdict_of(source)},
            {"ranking", ranking_of(source)},
            {"tables", page_tables(tables_of(source, limits.epoch_rows))},
            {"methods", methods_json(source.runs)}};
  if (source.study) page["scaling"] = scaling_of(*source.study);
  page["runs"] = std::move(runs);
  page["notes"] = notes;
  return page;
}

}  // namespace lockstep::internal::report
