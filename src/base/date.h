// The date and time of day, as text.
#pragma once

#include <fmt/chrono.h>

#include <ctime>
#include <string>

namespace lockstep::internal {

/// "2026-11-18 20:15 UTC".
inline std::string utc_date() {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
}

/// "20261118-201500" in the local time zone, for names of files.
inline std::string local_date() {
  return fmt::format("{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
}

}  // namespace lockstep::internal
