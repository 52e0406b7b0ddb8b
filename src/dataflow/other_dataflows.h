// Other dataflows on the same array, each with its best tiling, for comparison.
//
//   weight-stationary   An element keeps one weight while all inputs stream past. Psums move from
//                       element to element and stay in the buffer between channels.
//   output-stationary   An element keeps one output until it is complete: a tile of the map for
//                       several filters. Weights and inputs stream past in every cycle.
//   no-local-reuse      Elements keep nothing: channels × filters are multiplied at once, products
//                       are summed across elements, and all data come from the buffer.
//
// Elements, buffers, buses and energies are the chip's. These dataflows use one of its registers or
// none. The buses were sized for the row-stationary dataflow: a result says if another is bound by
// them.
#pragma once

#include "dataflow/result.h"

#include <string_view>
#include <vector>

namespace lockstep::internal::dataflow {

/// "weight-stationary", "output-stationary", "no-local-reuse".
std::vector<std::string> other_dataflows();

/// The result of the best tiling. Throws UsageError for an unknown name.
Result evaluate_other(std::string_view dataflow, const Layer& layer, const Chip& chip, Goal goal);

}  // namespace lockstep::internal::dataflow
