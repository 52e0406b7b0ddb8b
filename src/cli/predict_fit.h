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
  std::vector<std::size_t> sizes{4096, 64 << 10, 1 << 20, 8 << 20};
  int rounds = 3;
  int repeat = 7;
};

/// All-reduces by every algorithm, and barriers. The workers can be on `hosts`, one each.
std::vector<predict::Measurement> measure_transport(const std::string& transport,
                                                    const FitPlan& plan,
                                                    const launch::NetworkHosts* hosts = nullptr);

/// Measures it and fits. Throws UsageError for a transport that this build lacks.
predict::Fit fit_transport(const std::string& transport, const FitPlan& plan);

}  // namespace lockstep::cli
