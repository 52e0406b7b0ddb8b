// What workers and launchers of an elastic run leave for each other at the rendezvous; muster.h
// says what it means.
#pragma once

#include <fmt/format.h>

#include <string>

namespace lockstep::launch {

inline constexpr const char* kElasticWorkers = "elastic/workers";  ///< how many it began with
inline constexpr const char* kElasticDone = "elastic/done";
inline constexpr const char* kElasticEnd = "elastic/end";
inline constexpr const char* kElasticStop = "elastic/stop";

inline std::string elastic_key(const std::string& what, int number) {
  return fmt::format("elastic/{}/{}", what, number);
}

}  // namespace lockstep::launch
