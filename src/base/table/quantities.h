// Measured quantities as text: three significant digits, a unit, never an exponent.
// src/report/page/format.js writes the same in the browser.
#pragma once

#include <string>

namespace lockstep::internal {

/// Three significant digits, or all digits of the integer part: "0.00214", "35.0", "1890". A value
/// that is not finite is a dash.
std::string three_digits(double number);

/// "214 µs", "35.0 ms", "1.89 s", "2.50 min".
std::string in_seconds(double seconds);

/// A fraction from 0 to 1 as "40 %" or "less than 1 %".
std::string in_percent(double fraction);

/// "512 bytes", "247 kB", "36.9 MB", "1.20 GB".
std::string in_bytes(double bytes);

/// "21.0 ms instead of 35.0 ms".
std::string instead_of(double seconds, double before);

/// "1.67 times as fast".
std::string times_as_fast(double gain);

/// 3, "thread" → "3 threads".
std::string counted(double number, const std::string& thing);

}  // namespace lockstep::internal
