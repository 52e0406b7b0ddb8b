// Measured quantities as text, rounded to two significant digits.
#pragma once

#include <string>

namespace lockstep::internal::observe {

/// Two significant digits, or all digits of the integer part: "0.21 ms", "350 ms", "12 s".
std::string in_seconds(double seconds);

/// A fraction from 0 to 1 as "40 %" or "less than 1 %".
std::string in_percent(double fraction);

/// "247 kB", "37 MB".
std::string in_bytes(double bytes);

/// "21 ms instead of 35 ms".
std::string instead_of(double seconds, double before);

/// "1.7 times as fast".
std::string times_as_fast(double gain);

/// 3, "thread" → "3 threads".
std::string counted(double number, const std::string& thing);

}  // namespace lockstep::internal::observe
