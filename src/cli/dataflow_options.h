// The options of lockstep dataflow, and what they ask for.
#pragma once

#include "dataflow/search.h"
#include "dataflow/tensor.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

struct DataflowOptions {
  // What to compute, number by number.
  bool example = false;
  bool random = false;
  std::string filter, input;
  std::filesystem::path operands;
  std::uint64_t seed = 5000;
  dataflow::Count mac_width = 1;
  std::size_t cycles = 100;  ///< that are printed

  // What to count only.
  std::string model;
  std::string size, kernel;
  dataflow::Layer layer;
  std::optional<dataflow::Count> batch;

  // On what.
  std::string array = "12x14";
  std::string buffer = "100K", filter_buffer = "8K";
  std::string registers = "224,12,24", bus = "4,1,4", energy = "1,1,2,6,200";
  double megahertz = 200;

  // How.
  std::string mapping = "search";
  std::string least = "energy";
  std::vector<std::string> dataflows{"row-stationary"};
  bool training = false;

  std::string json;
  std::filesystem::path html;
};

void add_dataflow_options(CLI::App& command, DataflowOptions& options);

/// Whether numbers are to be computed cycle by cycle, rather than a layer's costs.
bool wants_simulation(const DataflowOptions& options);

// Each throws UsageError for what makes no sense.

dataflow::Chip chip_of(const DataflowOptions& options);
/// A network's, or the one that was described.
std::vector<dataflow::Layer> layers_of(const DataflowOptions& options);
dataflow::Operands operands_of(const DataflowOptions& options);
/// "m,n,e,p,q,r,t", "published" or "search".
dataflow::Mapping mapping_of(const DataflowOptions& options, const dataflow::Layer& layer,
                             const dataflow::Chip& chip);

}  // namespace lockstep::cli
