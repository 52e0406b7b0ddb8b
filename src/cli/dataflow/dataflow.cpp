// lockstep dataflow: the costs of layers on a row-stationary array, or every cycle of a small one.
#include <lockstep/error.h>

#include "base/files.h"
#include "cli/command.h"
#include "cli/dataflow/cycles.h"
#include "cli/dataflow/events.h"
#include "cli/dataflow/options.h"
#include "cli/dataflow/page.h"
#include "dataflow/other_dataflows.h"
#include "dataflow/published.h"
#include "dataflow/recording.h"
#include "dataflow/result_json.h"
#include "dataflow/training.h"

#include <fmt/format.h>

#include <map>
#include <memory>

namespace lockstep::internal::cli {

namespace {

using dataflow::Chip;
using dataflow::Layer;
using dataflow::Result;

std::vector<std::string> wanted_dataflows(const DataflowOptions& options) {
  if (options.dataflows != std::vector<std::string>{"all"}) return options.dataflows;
  std::vector<std::string> all = dataflow::other_dataflows();
  all.insert(all.begin(), "row-stationary");
  return all;
}

void require_no_contradiction(const DataflowOptions& options) {
  if (options.training && options.mapping != "search")
    throw UsageError("--training searches the mappings of all passes: omit --mapping");
  if (options.training && wanted_dataflows(options) != std::vector<std::string>{"row-stationary"})
    throw UsageError("--training supports the row-stationary dataflow only: omit --dataflow");
  if (options.serial && !wants_simulation(options))
    throw UsageError(
        "--serial orders the cycles of a simulation: add --example, --random, --operands, or "
        "--filter with --input");
  if (!options.html.empty()) require_writable(options.html);
}

std::vector<Result> results_of(const DataflowOptions& options, const std::vector<Layer>& layers,
                               const Chip& chip) {
  const dataflow::Goal goal = dataflow::parse_goal(options.least);
  if (options.training) return evaluate_training(layers, chip, goal);
  std::vector<Result> results;
  for (const std::string& name : wanted_dataflows(options))
    for (const Layer& layer : layers)
      results.push_back(name == "row-stationary"
                            ? evaluate(layer, chip, mapping_of(options, layer, chip))
                            : evaluate_other(name, layer, chip, goal));
  return results;
}

/// Whether the results can be compared with the published measurements.
bool is_as_published(const DataflowOptions& options, const std::vector<Layer>& layers) {
  const dataflow::PublishedModel* known = dataflow::published(options.model);
  return known != nullptr && options.mapping == "published" &&
         layers.front().batch == known->batch &&
         wanted_dataflows(options).front() == "row-stationary";
}

std::string subject_of(const DataflowOptions& options, const std::vector<Layer>& layers) {
  static const std::map<std::string, std::string> kNames{{"alexnet", "AlexNet"},
                                                         {"vgg16", "VGG-16"},
                                                         {"lenet5", "LeNet-5"},
                                                         {"vgg11", "VGG-11"},
                                                         {"resnet18", "ResNet-18"}};
  const Layer& first = layers.front();
  const std::string name =
      options.model.empty()
          ? fmt::format("{}×{}×{}, {} filters of {}×{}", first.channels, first.height, first.width,
                        first.filters, first.kernel_height, first.kernel_width)
          : kNames.at(options.model);
  return fmt::format("{}{}, batch {}", options.training ? "Training " : "", name, first.batch);
}

void map_layers(const DataflowOptions& options) {
  const Chip chip = chip_of(options);
  const std::vector<Layer> layers = layers_of(options);
  const std::vector<Result> results = results_of(options, layers, chip);
  std::vector<TextTable> tables = dataflow_tables(results, chip);
  if (is_as_published(options, layers))
    tables.push_back(published_table(
        options.model,
        {results.begin(), results.begin() + static_cast<std::ptrdiff_t>(layers.size())}, chip));
  if (options.json != "-")
    for (const TextTable& table : tables)
      fmt::print("{}\n{}\n", table.title, to_text(table, on_terminal()));
  write_json(options.json, json_of(results, chip));
  if (options.html.empty()) return;
  write_layers_page(options.html, subject_of(options, layers), results, chip, tables);
  if (options.json != "-") fmt::print("page: {}\n", options.html.string());
}

/// The mapping of the well-known example holds the whole output at once; so does the fastest
/// mapping of any small convolution.
dataflow::Mapping simulated_mapping(const DataflowOptions& options, const Layer& layer,
                                    const Chip& chip) {
  if (options.mapping == "published")
    throw UsageError(
        "mappings are published for models only: omit --mapping, or give seven numbers");
  if (options.mapping != "search") return mapping_of(options, layer, chip);
  return best_mapping(layer, chip, dataflow::Goal::kTime);
}

/// More rows on the page would slow the browser down.
constexpr std::size_t kMostRowsOnPage = 2000;

void write_simulation(const DataflowOptions& options, const dataflow::Simulation& simulation,
                      const dataflow::Mapping& mapping, const EventLog& events) {
  nlohmann::json json{{"output", json_of(simulation.output)},
                      {"counters", json_of(simulation.counters)},
                      {"mapping", json_of(mapping)}};
  if (nlohmann::json cycles = events.json(); !cycles.is_null()) json["cycles"] = std::move(cycles);
  write_json(options.json, json);
}

void simulate_cycles(const DataflowOptions& options) {
  const Chip chip = chip_of(options);
  const dataflow::Operands operands = operands_of(options);
  const Layer layer = layer_of(operands);
  const dataflow::Mapping mapping = simulated_mapping(options, layer, chip);
  CycleLog log(operands, options.cycles);
  EventLog events(operands);
  const dataflow::Simulation simulation = simulate(operands, chip, mapping,
                                                   {.mac_width = options.mac_width,
                                                    .serial = options.serial,
                                                    .on_pass =
                                                        [&](const dataflow::PassLayout& layout) {
                                                          log.pass(layout);
                                                          events.pass(layout);
                                                        },
                                                    .on_cycle =
                                                        [&](const dataflow::Cycle& cycle) {
                                                          log.cycle(cycle);
                                                          events.cycle(cycle);
                                                        }});
  if (simulation.output != plain_convolution(operands))
    throw InternalError("the array's output differs from that of a plain convolution");
  if (!options.html.empty())
    write_cycles_page(options.html,
                      record(operands, chip, mapping, options.mac_width, options.serial),
                      events.table(events.cycles_within(kMostRowsOnPage)));
  if (options.json != "-") {
    const std::string table = options.serial ? to_text(events.table(options.cycles), on_terminal())
                                             : log.table(on_terminal());
    fmt::print("mapping: {}\n\n{}{}{}\n{}{}", text_of(mapping), log.holdings(), table, log.rest(),
               output_text(simulation.output), counters_text(simulation.counters));
    if (!options.html.empty()) fmt::print("page: {}\n", options.html.string());
  }
  write_simulation(options, simulation, mapping, events);
}

}  // namespace

void add_dataflow_command(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand(
      "dataflow",
      "map convolutions onto a row-stationary array: mapping, cycles, accesses, energy");
  auto options = std::make_shared<DataflowOptions>();
  add_dataflow_options(*command, *options);
  command->callback([options, &code] {
    try {
      require_no_contradiction(*options);
      if (wants_simulation(*options))
        simulate_cycles(*options);
      else
        map_layers(*options);
    } catch (...) {
      code = report_exception("lockstep dataflow");
    }
  });
}

}  // namespace lockstep::internal::cli
