// Search: the best mapping that the rules allow.
#pragma once

#include "dataflow/row_stationary.h"

namespace lockstep::dataflow {

enum class Goal { kEnergy, kTime };

/// "energy" or "time". Throws UsageError.
Goal parse_goal(std::string_view name);

/// The allowed mapping that costs least; of equals in one, the least of the other. Every mapping is
/// tried except those that another beats whatever the chip: strips that are higher than as many
/// strips need, fewer filters in the buffer than fit. Throws UsageError if there is none, with
/// the reason.
Mapping best_mapping(const Layer& layer, const Chip& chip, Goal goal);

/// Whether `one` is to be preferred to `other`.
bool is_better(const Chip& chip, Goal goal, const Cost& one, const Cost& other);

}  // namespace lockstep::dataflow
