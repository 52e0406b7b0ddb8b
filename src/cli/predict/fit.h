// Measures a transport of this machine, to fit the cost model to it.
#pragma once

#include "launch/hosts/network_hosts.h"
#include "predict/fit.h"

#include <string>
#include <vector>

namespace lockstep::internal::cli {

/// What to measure. The fastest of several short rounds counts, because other work on the machine
/// only adds time.
struct FitPlan {
  std::vector<int> workers{2, 4};
  std::vector<std::size_t> sizes{4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20, 8 << 20};
  int rounds = 3;
  int repeat = 7;
};

/// Times all-reduces by every algorithm. Barriers are not timed: in a series of barriers all ranks
/// are awake, unlike in the agreement before a collective. The workers can be on `hosts`, one each.
std::vector<predict::Measurement> measure_transport(const std::string& transport,
                                                    const FitPlan& plan,
                                                    const launch::NetworkHosts* hosts = nullptr);

predict::Fit fit_to(const std::string& transport,
                    const std::vector<predict::Measurement>& measurements);

/// Measures the transport and fits. Throws UsageError for a transport that this build lacks.
predict::Fit fit_transport(const std::string& transport, const FitPlan& plan);

}  // namespace lockstep::internal::cli
