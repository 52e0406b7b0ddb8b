// The pages of lockstep dataflow: their data, which src/report puts into one file.
#pragma once

#include "cli/dataflow_tables.h"
#include "dataflow/recording.h"

#include <filesystem>

namespace lockstep::cli {

/// Bars of every layer, and the tables. `subject` is what was mapped: "AlexNet, batch 4".
void write_layers_page(const std::filesystem::path& file, const std::string& subject,
                       const std::vector<dataflow::Result>& results, const dataflow::Chip& chip,
                       const std::vector<DataflowTable>& tables);

/// The cycles of a simulation, to step through.
void write_cycles_page(const std::filesystem::path& file, const dataflow::Recording& recording);

}  // namespace lockstep::cli
