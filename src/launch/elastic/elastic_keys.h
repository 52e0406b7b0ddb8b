// The keys of an elastic run at the rendezvous; elastic_membership.h documents them.
#pragma once

#include <fmt/format.h>

#include <string>

namespace lockstep::internal::launch {

inline constexpr const char* kElasticWorkers = "elastic/workers";  ///< initial number of workers
inline constexpr const char* kElasticDone = "elastic/done";
inline constexpr const char* kElasticEnd = "elastic/end";
inline constexpr const char* kElasticStop = "elastic/stop";

inline std::string elastic_key(const std::string& what, int number) {
  return fmt::format("elastic/{}/{}", what, number);
}

}  // namespace lockstep::internal::launch
