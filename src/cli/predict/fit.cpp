#include "cli/predict/fit.h"

#include "cli/bench/start.h"
#include "cli/transport_list.h"
#include "launch/hosts/machine.h"

#include <map>
#include <tuple>

namespace lockstep::internal::cli {

namespace {

/// The fastest of several rounds, by algorithm, workers and size.
class Fastest {
 public:
  void add(const BenchRun& run) {
    for (const BenchResult& result : run.results) {
      if (result.algorithm == Algorithm::native) continue;  // its algorithm is not known
      const auto [place, is_new] =
          seconds_.try_emplace({result.algorithm, run.workers, result.bytes}, result.seconds);
      if (!is_new) place->second = std::min(place->second, result.seconds);
    }
  }

  std::vector<predict::Measurement> measurements() const {
    std::vector<predict::Measurement> all;
    for (const auto& [what, seconds] : seconds_) {
      const auto& [algorithm, workers, bytes] = what;
      const int per_host = algorithm == Algorithm::direct ? workers : 1;
      all.push_back({{comm::Operation::all_reduce, algorithm, static_cast<double>(bytes)},
                     {workers, per_host},
                     seconds});
    }
    return all;
  }

 private:
  std::map<std::tuple<Algorithm, int, std::uint64_t>, double> seconds_;
};

}  // namespace

std::vector<predict::Measurement> measure_transport(const std::string& transport,
                                                    const FitPlan& plan,
                                                    const launch::NetworkHosts* hosts) {
  Fastest fastest;
  for (int round = 0; round < plan.rounds; ++round)
    for (int workers : plan.workers) {
      const BenchPlan all_reduce{.algorithms = {}, .sizes = plan.sizes, .repeat = plan.repeat};
      fastest.add(measure_on(transport, workers, all_reduce, hosts));
    }
  return fastest.measurements();
}

predict::Fit fit_to(const std::string& transport,
                    const std::vector<predict::Measurement>& measurements) {
  predict::NetworkModel start = predict::parse_network("loopback");
  start.name = transport;
  // Gloo's threads and the kernel copy at both ends of a message at once; elsewhere the ranks copy
  // into common memory and out of it, one after the other.
  start.message_cores = transport.find("gloo") == std::string::npos ? 1 : 2;
  return predict::fit(start, launch::find_cores().usable(), measurements);
}

predict::Fit fit_transport(const std::string& transport, const FitPlan& plan) {
  require_transport(transport);
  return fit_to(transport, measure_transport(transport, plan));
}

}  // namespace lockstep::internal::cli
