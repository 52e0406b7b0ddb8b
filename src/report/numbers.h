// Numbers as text for tables and sentences of a report. A missing value, NaN or infinity is a dash.
#pragma once

#include <optional>
#include <string>

namespace lockstep::internal::report {

using Number = std::optional<double>;

std::string fixed(Number value, int digits);
/// A fraction in percent: 0.25 → "25.0".
std::string percent(Number fraction);
/// Seconds in milliseconds: 0.00167 → "1.670".
std::string milliseconds(Number seconds);

}  // namespace lockstep::internal::report
