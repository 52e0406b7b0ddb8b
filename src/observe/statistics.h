// Summaries of many measurements.
#pragma once

#include <vector>

namespace lockstep::observe {

/// The value below which a share `quantile` of the values lies, interpolated; 0 without values.
double percentile(std::vector<double> values, double quantile);
double mean(const std::vector<double>& values);

}  // namespace lockstep::observe
