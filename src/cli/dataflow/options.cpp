#include "cli/dataflow/options.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/number.h"
#include "base/text.h"
#include "dataflow/models.h"
#include "dataflow/other_dataflows.h"
#include "dataflow/published.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tuple>

namespace lockstep::internal::cli {

namespace {

using dataflow::Count;

constexpr Count kMost = Count{1} << 40;

/// Parses `count` whole numbers between separators.
std::vector<Count> numbers(const std::string& text, char separator, std::size_t count,
                           const std::string& option, const std::string& form) {
  const std::vector<std::string> parts = split(text, separator);
  if (parts.size() != count)
    throw UsageError(fmt::format("{} is '{}': write it as {}", option, text, form));
  std::vector<Count> values;
  for (const std::string& part : parts) values.push_back(parse_integer(part, option, 0, kMost));
  return values;
}

/// Parses "27" or "27x31": rows and columns.
std::pair<Count, Count> extent(const std::string& text, const std::string& option) {
  if (text.find('x') == std::string::npos) {
    const Count side = parse_integer(text, option, 0, kMost);
    return {side, side};
  }
  const std::vector<Count> sides = numbers(text, 'x', 2, option, "27 or 27x31");
  return {sides[0], sides[1]};
}

std::vector<double> energies(const std::string& text) {
  std::vector<double> values;
  for (const std::string& part : split(text, ',')) {
    const std::optional<double> value = number_in<double>(part);
    if (!value) break;
    values.push_back(*value);
  }
  if (values.size() != 5 || split(text, ',').size() != 5)
    throw UsageError(
        fmt::format("--energy is '{}': write five numbers, alu,register,array,buffer,dram", text));
  return values;
}

Count default_batch(const DataflowOptions& options) {
  if (options.batch) return *options.batch;
  if (options.model.empty()) return 1;
  const dataflow::PublishedModel* known = dataflow::published(options.model);
  return known != nullptr ? known->batch : 4;
}

dataflow::Layer described_layer(const DataflowOptions& options) {
  dataflow::Layer layer = options.layer;
  if (options.size.empty() || options.kernel.empty())
    throw UsageError(
        "nothing to map: give --model alexnet, a layer (--size 27 --kernel 5 --channels 48 "
        "--filters 256), or --example");
  layer.name = "layer";
  layer.batch = default_batch(options);
  std::tie(layer.height, layer.width) = extent(options.size, "--size");
  std::tie(layer.kernel_height, layer.kernel_width) = extent(options.kernel, "--kernel");
  require_sound(layer);
  return layer;
}

dataflow::Operands read_operands(const std::filesystem::path& file) {
  const std::string text = read_file(file, 64 << 20);
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) throw UsageError(fmt::format("{} is not JSON", file.string()));
  try {
    return dataflow::operands_of(json);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

void add_layer_options(CLI::App& command, DataflowOptions& options) {
  command
      .add_option(
          "--model", options.model,
          "convolutions of a model: alexnet, vgg16 (ImageNet), lenet5, vgg11, resnet18 (as trained "
          "here)")
      ->check(CLI::IsMember(dataflow::model_names()));
  command.add_option("--size", options.size,
                     "one layer instead: size of its input map, 27 or 27x31");
  command.add_option("--kernel", options.kernel, "size of its filters, 5 or 5x3");
  command.add_option("--channels", options.layer.channels, "input channels")->capture_default_str();
  command.add_option("--filters", options.layer.filters, "filters, which are output channels")
      ->capture_default_str();
  command.add_option("--stride", options.layer.stride, "stride in both directions")
      ->capture_default_str();
  command.add_option("--padding", options.layer.padding, "zeros on every side")
      ->capture_default_str();
  command.add_option("--groups", options.layer.groups, "groups of channels and filters")
      ->capture_default_str();
  command.add_option(
      "--batch", options.batch,
      "number of images; default: that of the published measurements (alexnet 4, vgg16 3), 4 for "
      "other models, 1 for a layer");
}

void add_simulation_options(CLI::App& command, DataflowOptions& options) {
  command.add_flag("--example", options.example,
                   "compute a small convolution cycle by cycle and show every product");
  command.add_option("--filter", options.filter,
                     "filter to compute with: \"1,2;3,4\", or JSON lists of up to 4 dimensions");
  command.add_option("--input", options.input, "input to compute with, in the same form");
  command.add_option("--operands", options.operands,
                     "read both from a JSON file: {\"filter\": …, \"input\": …, \"stride\": 1}");
  command.add_flag("--random", options.random, "compute the described layer with random numbers");
  command.add_option("--seed", options.seed, "seed of the random numbers")->capture_default_str();
  command.add_option("--mac-width", options.mac_width, "products per element and cycle")
      ->capture_default_str();
  command.add_flag("--serial", options.serial,
                   "one element at a time, then the psums, as in a calculation by hand");
  command.add_option("--cycles", options.cycles, "cycles to print")->capture_default_str();
}

void add_chip_options(CLI::App& command, DataflowOptions& options) {
  const auto text = [&](const char* name, std::string& value, const char* help) {
    command.add_option(name, value, help)->capture_default_str();
  };
  text("--array", options.array, "processing elements, ROWSxCOLUMNS");
  text("--buffer", options.buffer, "bytes for input maps and psums");
  text("--filter-buffer", options.filter_buffer, "bytes for the next pass's filters");
  text("--registers", options.registers, "words per element: filter,ifmap,psum");
  text("--bus", options.bus, "words per cycle: filter,ifmap,psum");
  text("--energy", options.energy, "energy per operation or word: alu,register,array,buffer,dram");
  command.add_option("--clock", options.megahertz, "clock in MHz")->capture_default_str();
}

}  // namespace

void add_dataflow_options(CLI::App& command, DataflowOptions& options) {
  add_layer_options(command, options);
  add_chip_options(command, options);
  command
      .add_option("--mapping", options.mapping,
                  "mapping: search, published (alexnet, vgg16), or seven numbers m,n,e,p,q,r,t")
      ->capture_default_str();
  command.add_option("--least", options.least, "goal of the search: least energy or time")
      ->capture_default_str()
      ->check(CLI::IsMember({"energy", "time"}));
  command
      .add_option(
          "--dataflow", options.dataflows,
          fmt::format("row-stationary, {}, or all", fmt::join(dataflow::other_dataflows(), ", ")))
      ->delimiter(',')
      ->capture_default_str();
  command.add_flag("--training", options.training,
                   "cost of training: forward, input gradient and weight gradient of each layer");
  add_simulation_options(command, options);
  command.add_option("--json", options.json,
                     "write the result to this file as JSON; - for standard output");
  command.add_option("--html", options.html,
                     "write an HTML page: charts of the layers, or the cycles to step through");
}

bool wants_simulation(const DataflowOptions& options) {
  return options.example || options.random || !options.filter.empty() || !options.input.empty() ||
         !options.operands.empty();
}

dataflow::Chip chip_of(const DataflowOptions& options) {
  dataflow::Chip chip;
  const auto sides = numbers(options.array, 'x', 2, "--array", "ROWSxCOLUMNS, such as 12x14");
  chip.rows = sides[0];
  chip.columns = sides[1];
  chip.buffer_bytes = static_cast<Count>(parse_bytes(options.buffer));
  chip.filter_buffer_bytes = static_cast<Count>(parse_bytes(options.filter_buffer));
  const auto words = numbers(options.registers, ',', 3, "--registers", "FILTER,IFMAP,PSUM");
  chip.registers = {words[0], words[1], words[2]};
  const auto bus = numbers(options.bus, ',', 3, "--bus", "FILTER,IFMAP,PSUM");
  chip.buses = {bus[0], bus[1], bus[2]};
  const auto energy = energies(options.energy);
  chip.energy = {energy[0], energy[1], energy[2], energy[3], energy[4]};
  chip.megahertz = options.megahertz;
  require_sound(chip);
  return chip;
}

std::vector<dataflow::Layer> layers_of(const DataflowOptions& options) {
  if (options.model.empty()) return {described_layer(options)};
  if (!options.size.empty() || !options.kernel.empty())
    throw UsageError("--model and --size describe different layers: omit one of them");
  std::vector<dataflow::Layer> layers =
      dataflow::model_layers(options.model, default_batch(options));
  for (const dataflow::Layer& layer : layers) require_sound(layer);
  return layers;
}

dataflow::Operands operands_of(const DataflowOptions& options) {
  const bool typed = !options.filter.empty() || !options.input.empty();
  if (options.example + options.random + typed + !options.operands.empty() != 1)
    throw UsageError(
        "--example, --random, --operands, and --filter with --input exclude each other");
  if (options.random) return random_operands(described_layer(options), options.seed);
  if (!options.operands.empty()) return read_operands(options.operands);
  dataflow::Operands operands{
      .filter = {}, .input = {}, .stride = options.layer.stride, .padding = options.layer.padding};
  operands.filter =
      dataflow::parse_tensor(options.example ? "1,2;3,4" : options.filter, "--filter");
  operands.input =
      dataflow::parse_tensor(options.example ? "1,2,3;4,5,6;7,8,9" : options.input, "--input");
  return operands;
}

dataflow::Mapping mapping_of(const DataflowOptions& options, const dataflow::Layer& layer,
                             const dataflow::Chip& chip) {
  if (options.mapping == "search")
    return best_mapping(layer, chip, dataflow::parse_goal(options.least));
  if (options.mapping == "published") return published_mapping(options.model, layer);
  const auto its = numbers(options.mapping, ',', 7, "--mapping",
                           "search, published or seven numbers m,n,e,p,q,r,t");
  return {its[0], its[1], its[2], its[3], its[4], its[5], its[6]};
}

}  // namespace lockstep::internal::cli
