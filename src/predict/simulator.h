// Simulator: the time of collectives on a network with contention. The steps of every rank are
// recorded from the collectives' own code and executed by lockstep-simulate, a separate program.
#pragma once

#include "predict/iteration.h"
#include "predict/scaling.h"
#include "simulate/request.h"

#include <filesystem>
#include <map>
#include <string_view>
#include <tuple>

namespace lockstep::internal::predict {

struct SimulatorOptions {
  simulate::Topology topology = simulate::Topology::one_switch;
  double slow_link = 1;           ///< factor by which the first host's link is slower
  std::filesystem::path program;  ///< lockstep-simulate
};

/// "switch", "fat-tree", "dragonfly". Throws UsageError.
simulate::Topology parse_topology(std::string_view name);

/// Throws UsageError for more hosts than the topology can connect.
void require_room(simulate::Topology topology, const comm::RecordedWorld& world);

class Simulator {
 public:
  /// Throws UsageError if the program is not found, or for options out of range.
  explicit Simulator(SimulatorOptions options);

  /// Seconds of a collective among the cluster's ranks. Caches results. The time of a ring of many
  /// ranks is affine in its bytes while a chunk is one segment and all links are equal: two lengths
  /// are simulated, and those in between are interpolated. Throws Error if the program fails.
  double seconds(const Collective& collective, const Cluster& cluster);

 private:
  using Key = std::tuple<comm::Operation, Algorithm, std::uint64_t, int, int>;

  double exactly(const Collective& collective, const Cluster& cluster);
  double run(const Collective& collective, const Cluster& cluster) const;

  const SimulatorOptions options_;
  std::map<Key, double> known_;
};

/// The same method and bucket size, with simulated collectives; none for a method with exchanges
/// that are not collectives.
std::optional<Prediction> simulate_prediction(Simulator& simulator, const ScalingJob& job,
                                              const Prediction& by_formula);

}  // namespace lockstep::internal::predict
