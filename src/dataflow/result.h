// Results: the cost of a layer, a pass of its training or a whole model on a chip.
#pragma once

#include "dataflow/row_stationary.h"
#include "dataflow/search.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::dataflow {

/// Cycles by use. Unlike Cycles, they can be added up over layers.
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
  Layer layer;                         ///< for a pass in several parts, the largest
  std::optional<Mapping> mapping;      ///< of `layer`; row-stationary only
  std::optional<Placement> placement;  ///< of `layer`; row-stationary only
  std::string arrangement;             ///< contents of the array, as text
  double active_elements = 0;          ///< in a full pass; for several parts, the mean over time
  Count macs = 0;
  Accesses accesses;
  Time time;
  std::string bound_by;
  Energy energy;

  double utilisation(const Chip& chip) const {
    return active_elements / static_cast<double>(chip.elements());
  }
  /// 10^9 multiply-accumulates per second.
  double throughput(const Chip& chip) const;
};

/// Converts a cost to a result. The caller sets the names.
Result result_of(const Chip& chip, const Cost& cost, double active_elements);

/// Evaluates the layer with this mapping. Throws UsageError if the rules forbid it.
Result evaluate(const Layer& layer, const Chip& chip, const Mapping& mapping);

/// Adds up accesses, time and energy; active elements are the mean over time.
Result total_of(const std::vector<Result>& results);

}  // namespace lockstep::internal::dataflow
