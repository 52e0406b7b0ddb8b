// Results: what a layer, a pass of its training or a whole network costs on a chip.
#pragma once

#include "dataflow/row_stationary.h"
#include "dataflow/search.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep::dataflow {

/// Cycles by what they are spent on; unlike Cycles these can be added up over layers.
struct Time {
  Count compute = 0;
  Count bus_wait = 0;  ///< elements wait for the slowest bus
  Count ramp_up = 0;

  Count total() const { return compute + bus_wait + ramp_up; }
};

struct Result {
  std::string name;
  std::string dataflow = "row-stationary";
  std::string pass = "forward";
  Layer layer;                         ///< of a pass in several parts: its largest
  std::optional<Mapping> mapping;      ///< of that layer; row-stationary only
  std::optional<Placement> placement;  ///< likewise
  std::string arrangement;             ///< in words, what the array holds
  double active_elements = 0;          ///< in a full pass; of several parts, the mean over time
  Count macs = 0;
  Accesses accesses;
  Time time;
  std::string bound_by;
  Energy energy;

  double utilisation(const Chip& chip) const {
    return active_elements / static_cast<double>(chip.elements());
  }
  /// 10^9 multiply-accumulates a second.
  double throughput(const Chip& chip) const;
};

/// A cost as a result. REQUIRES: the caller names what it is of.
Result result_of(const Chip& chip, const Cost& cost, double active_elements);

/// The layer with this mapping. Throws UsageError if the rules forbid it.
Result evaluate(const Layer& layer, const Chip& chip, const Mapping& mapping);

/// Adds up accesses, time and energy; active elements are the mean over time.
Result total_of(const std::vector<Result>& results);

}  // namespace lockstep::dataflow
