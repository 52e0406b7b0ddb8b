// Measured quantities in words for people, with as many digits as a measurement deserves.
#pragma once

#include <string>

namespace lockstep::observe {

/// Two digits or all before the point: "0.21 ms", "3.5 ms", "350 ms", "12 s".
std::string in_seconds(double seconds);

/// "40 %"; "less than 1 %".
std::string in_percent(double share);

/// "247 kB", "37 MB".
std::string in_bytes(double bytes);

/// "21 ms instead of 35 ms".
std::string instead_of(double seconds, double before);

/// "1.7 times as fast".
std::string times_as_fast(double gain);

/// 3, "thread" → "3 threads".
std::string counted(double number, const std::string& thing);

}  // namespace lockstep::observe
