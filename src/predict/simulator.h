// Simulator: seconds of collectives on a network with contention. Every rank's steps are recorded
// from the collectives' own code and executed by lockstep-simulate, a program of its own.
#pragma once

#include "predict/iteration.h"
#include "predict/scaling.h"
#include "simulate/request.h"

#include <filesystem>
#include <map>
#include <string_view>
#include <tuple>

namespace lockstep::predict {

struct SimulatorOptions {
  simulate::Topology topology = simulate::Topology::one_switch;
  double slow_link = 1;           ///< the first host's link is so many times as slow
  std::filesystem::path program;  ///< lockstep-simulate
};

/// "switch", "fat-tree", "dragonfly". Throws UsageError.
simulate::Topology parse_topology(std::string_view name);

/// Throws UsageError for more hosts than the topology has places for.
void require_room(simulate::Topology topology, const comm::RecordedWorld& world);

class Simulator {
 public:
  /// Throws UsageError if the program is not there, or the options make no sense.
  explicit Simulator(SimulatorOptions options);

  /// Seconds of a collective among the site's ranks. Remembers what it has simulated. The time of a
  /// ring of many ranks is affine in its bytes while a chunk is one segment and all links are
  /// alike: two lengths are simulated, and those in between follow. Throws Error if the program
  /// fails.
  double seconds(const Collective& collective, const Site& site);

 private:
  using Key = std::tuple<comm::Operation, Algorithm, std::uint64_t, int, int>;

  double exactly(const Collective& collective, const Site& site);
  double run(const Collective& collective, const Site& site) const;

  const SimulatorOptions options_;
  std::map<Key, double> known_;
};

/// The same method and bucket size, with collectives simulated; none for a method that has
/// exchanges that are no collectives.
std::optional<Prediction> simulate_prediction(Simulator& simulator, const ScalingJob& job,
                                              const Prediction& by_formula);

}  // namespace lockstep::predict
