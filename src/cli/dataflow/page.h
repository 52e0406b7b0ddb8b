// The data of lockstep dataflow's pages; src/report renders them to one file.
#pragma once

#include "cli/dataflow/tables.h"
#include "dataflow/recording.h"

#include <filesystem>

namespace lockstep::internal::cli {

/// Charts of every layer, and the tables. `subject` names the mapped layers: "AlexNet, batch 4".
void write_layers_page(const std::filesystem::path& file, const std::string& subject,
                       const std::vector<dataflow::Result>& results, const dataflow::Chip& chip,
                       const std::vector<TextTable>& tables);

/// The cycles of a simulation, to step through, and as a table.
void write_cycles_page(const std::filesystem::path& file, const dataflow::Recording& recording,
                       const TextTable& cycles);

}  // namespace lockstep::internal::cli
