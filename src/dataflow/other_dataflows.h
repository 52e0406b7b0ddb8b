// Other ways to use the same array, each with its best tiling, to compare with.
//
//   weight-stationary   An element keeps one weight while all inputs go by. Psums move from element
//                       to element and wait in the buffer between channels.
//   output-stationary   An element keeps one output until it is complete: a tile of the map for
//                       several filters. Weights and inputs come by in every cycle.
//   no-local-reuse      Elements keep nothing: channels × filters are multiplied at once, sums are
//                       added across, and all comes from the buffer.
//
// Elements, buffers, buses and energies are the chip's; of its registers they use one, or none. The
// buses were made for rows that stay: where others wait for them, the result says so.
#pragma once

#include "dataflow/result.h"

#include <string_view>
#include <vector>

namespace lockstep::dataflow {

/// "weight-stationary", "output-stationary", "no-local-reuse".
std::vector<std::string> other_dataflows();

/// The best of all tilings. Throws UsageError for a name that is not known.
Result evaluate_other(std::string_view dataflow, const Layer& layer, const Chip& chip, Goal goal);

}  // namespace lockstep::dataflow
