// Measuring a transport of this machine, to fit the cost model to it.
#pragma once

#include "launch/network_hosts.h"
#include "predict/fit.h"

#include <string>
#include <vector>

namespace lockstep::cli {

/// What to time. Several short rounds, of which the fastest counts: whatever else runs on the
/// machine only makes things slower.
struct FitPlan {
  std::vector<int> workers{2, 4};
  std::vector<std::size_t> sizes{4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20, 8 << 20};
  int rounds = 3;
  int repeat = 7;
};

/// All-reduces by every algorithm. No barriers: those that follow each other find all ranks awake,
/// as the agreement before a collective does not. The workers can be on `hosts`, one each.
std::vector<predict::Measurement> measure_transport(const std::string& transport,
                                                    const FitPlan& plan,
                                                    const launch::NetworkHosts* hosts = nullptr);

predict::Fit fit_to(const std::string& transport,
                    const std::vector<predict::Measurement>& measurements);

/// Measures it and fits. Throws UsageError for a transport that this build lacks.
predict::Fit fit_transport(const std::string& transport, const FitPlan& plan);

}  // namespace lockstep::cli
