#include "cli/dataflow_page.h"

#include "base/files.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/dataflow_cycles.h"
#include "dataflow/result_json.h"
#include "report/html.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

namespace lockstep::cli {

namespace {

nlohmann::json page_of(const char* kind, const std::string& title) {
  return {{"kind", kind},
          {"title", title},
          {"command", typed_command()},
          {"version", version()},
          {"made", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)))}};
}

}  // namespace

void write_layers_page(const std::filesystem::path& file, const std::string& subject,
                       const std::vector<dataflow::Result>& results, const dataflow::Chip& chip,
                       const std::vector<DataflowTable>& tables) {
  nlohmann::json page =
      page_of("layers", fmt::format("{} on an array of {}×{}", subject, chip.rows, chip.columns));
  page.update(dataflow::json_of(results, chip));
  for (const DataflowTable& table : tables) page["tables"].push_back(table.json());
  write_file(file, report::dataflow_html_of(page));
}

void write_cycles_page(const std::filesystem::path& file, const dataflow::Recording& recording) {
  const dataflow::Tensor& output = recording.simulation.output;
  nlohmann::json page =
      page_of("cycles", fmt::format("A row-stationary array computes {}×{} outputs, cycle by cycle",
                                    output.rows, output.columns));
  page["counters"] = json_of(recording.simulation.counters);
  page["recording"] = recording.json;
  write_file(file, report::dataflow_html_of(page));
}

}  // namespace lockstep::cli
