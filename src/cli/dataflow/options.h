// The options of lockstep dataflow, and the objects that they describe.
#pragma once

#include "dataflow/search.h"
#include "dataflow/tensor.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::cli {

struct DataflowOptions {
  // Values to compute with, cycle by cycle.
  bool example = false;
  bool random = false;
  std::string filter, input;
  std::filesystem::path operands;
  std::uint64_t seed = 5000;
  dataflow::Count mac_width = 1;
  bool serial = false;
  std::size_t cycles = 100;  ///< number of cycles to print

  // Layers to evaluate.
  std::string model;
  std::string size, kernel;
  dataflow::Layer layer;
  std::optional<dataflow::Count> batch;

  // The chip.
  std::string array = "12x14";
  std::string buffer = "100K", filter_buffer = "8K";
  std::string registers = "224,12,24", bus = "4,1,4", energy = "1,1,2,6,200";
  double megahertz = 200;

  // The evaluation.
  std::string mapping = "search";
  std::string least = "energy";
  std::vector<std::string> dataflows{"row-stationary"};
  bool training = false;

  std::string json;
  std::filesystem::path html;
};

void add_dataflow_options(CLI::App& command, DataflowOptions& options);

/// Whether to compute values cycle by cycle, rather than a layer's costs.
bool wants_simulation(const DataflowOptions& options);

// Each throws UsageError for invalid options.

dataflow::Chip chip_of(const DataflowOptions& options);
/// The layers of a model, or the described one.
std::vector<dataflow::Layer> layers_of(const DataflowOptions& options);
dataflow::Operands operands_of(const DataflowOptions& options);
/// The mapping of "m,n,e,p,q,r,t", "published" or "search".
dataflow::Mapping mapping_of(const DataflowOptions& options, const dataflow::Layer& layer,
                             const dataflow::Chip& chip);

}  // namespace lockstep::internal::cli
