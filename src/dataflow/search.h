// Search: the best allowed mapping.
#pragma once

#include "dataflow/row_stationary.h"

namespace lockstep::internal::dataflow {

enum class Goal { kEnergy, kTime };

/// "energy" or "time". Throws UsageError.
Goal parse_goal(std::string_view name);

/// The allowed mapping of least cost; ties are decided by the other goal. Skips mappings that are
/// never better on any chip: strips higher than their number requires, and fewer filters in the
/// buffer than fit. Throws UsageError with the reason if no mapping is allowed.
Mapping best_mapping(const Layer& layer, const Chip& chip, Goal goal);

/// Whether `one` is to be preferred to `other`.
bool is_better(const Chip& chip, Goal goal, const Cost& one, const Cost& other);

}  // namespace lockstep::internal::dataflow
