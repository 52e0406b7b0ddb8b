#include "cli/dataflow/page.h"

#include "base/date.h"
#include "base/files.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/dataflow/cycles.h"
#include "dataflow/result_json.h"
#include "report/html.h"
#include "report/tables.h"

#include <fmt/format.h>

namespace lockstep::internal::cli {

namespace {

nlohmann::json page_of(const char* kind, const std::string& title) {
  return {{"kind", kind},
          {"title", title},
          {"command", typed_command()},
          {"version", version()},
          {"made", utc_date()}};
}

/// One or two sentences about where time and energy go.
std::string verdict_of(const std::vector<dataflow::Result>& results, const dataflow::Chip& chip) {
  std::vector<dataflow::Result> first;
  for (const dataflow::Result& result : results)
    if (result.dataflow == results.front().dataflow) first.push_back(result);
  const dataflow::Result all = total_of(first);
  const auto percent = [](double part, double whole) { return 100 * part / whole; };
  const auto cycles = static_cast<double>(all.time.total());
  return fmt::format(
      "{:.1f} ms at {:.1f} GMAC/s, with {:.0f} of {} elements active. Time: {:.0f} % computing, "
      "{:.0f} % waiting for a bus, {:.0f} % ramp-up. Energy: {:.0f} % in registers, {:.0f} % in "
      "the "
      "DRAM.",
      chip.milliseconds(all.time.total()), all.throughput(chip), all.active_elements,
      chip.elements(), percent(static_cast<double>(all.time.compute), cycles),
      percent(static_cast<double>(all.time.bus_wait), cycles),
      percent(static_cast<double>(all.time.ramp_up), cycles),
      percent(all.energy.registers, all.energy.total()),
      percent(all.energy.dram, all.energy.total()));
}

}  // namespace

void write_layers_page(const std::filesystem::path& file, const std::string& subject,
                       const std::vector<dataflow::Result>& results, const dataflow::Chip& chip,
                       const std::vector<TextTable>& tables) {
  nlohmann::json page =
      page_of("layers", fmt::format("{}, on an array of {}×{}", subject, chip.rows, chip.columns));
  page["verdict"] = verdict_of(results, chip);
  page.update(dataflow::json_of(results, chip));
  page["tables"] = report::page_tables(tables);
  write_file(file, report::dataflow_html_of(page));
}

void write_cycles_page(const std::filesystem::path& file, const dataflow::Recording& recording,
                       const TextTable& cycles) {
  const dataflow::Tensor& output = recording.simulation.output;
  nlohmann::json page =
      page_of("cycles", fmt::format("A row-stationary array computes {}×{} outputs, cycle by cycle",
                                    output.rows, output.columns));
  page["counters"] = json_of(recording.simulation.counters);
  page["recording"] = recording.json;
  page["tables"] = report::page_tables({cycles});
  write_file(file, report::dataflow_html_of(page));
}

}  // namespace lockstep::internal::cli
