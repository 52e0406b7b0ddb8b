// Numbers as a report's tables and sentences show them. What is missing, or no number, is a dash.
#pragma once

#include <optional>
#include <string>

namespace lockstep::report {

using Number = std::optional<double>;

std::string fixed(Number value, int digits);
/// Of a share: 0.25 → "25.0".
std::string percent(Number share);
/// Of seconds: 0.00167 → "1.670".
std::string milliseconds(Number seconds);
/// "370 kB", "36.9 MB": powers of 1000.
std::string bytes_text(double bytes);

}  // namespace lockstep::report
