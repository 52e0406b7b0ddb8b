// Mean and percentiles of measurements.
#pragma once

#include <vector>

namespace lockstep::internal::observe {

/// The `quantile` (0 to 1) of the values, linearly interpolated; 0 without values.
double percentile(std::vector<double> values, double quantile);
double mean(const std::vector<double>& values);

}  // namespace lockstep::internal::observe
