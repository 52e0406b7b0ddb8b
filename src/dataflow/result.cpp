#include "dataflow/result.h"

#include <fmt/format.h>

namespace lockstep::internal::dataflow {

namespace {

std::string arrangement_of(const Mapping& mapping, const Placement& placement) {
  const Count sets = mapping.r * mapping.t;
  std::string text = fmt::format("{} × {}×{}", sets, placement.set_rows, placement.set_columns);
  if (placement.folds > 1) text += fmt::format(", folded in {}", placement.folds);
  return text;
}

}  // namespace

double Result::throughput(const Chip& chip) const {
  if (time.total() == 0) return 0;
  return static_cast<double>(macs) / chip.milliseconds(time.total()) / 1e6;
}

Result result_of(const Chip& chip, const Cost& cost, double active_elements) {
  Result result;
  result.active_elements = active_elements;
  result.macs = cost.macs;
  result.accesses = cost.accesses;
  result.time = {.compute = cost.cycles.compute,
                 .bus_wait = cost.cycles.pace() - cost.cycles.compute,
                 .ramp_up = cost.cycles.ramp_up};
  result.bound_by = cost.cycles.bound_by();
  result.energy = energy_of(chip, cost.macs, cost.accesses);
  return result;
}

Result evaluate(const Layer& layer, const Chip& chip, const Mapping& mapping) {
  require_sound(layer);
  require_sound(chip);
  require_allowed(layer, chip, mapping);
  Result result = result_of(chip, cost_of(layer, chip, mapping),
                            static_cast<double>(active_elements(layer, mapping)));
  result.name = layer.name;
  result.layer = layer;
  result.mapping = mapping;
  result.placement = place(layer, chip, mapping.e);
  result.arrangement = arrangement_of(mapping, *result.placement);
  return result;
}

Result total_of(const std::vector<Result>& results) {
  Result total;
  total.name = "total";
  double active_cycles = 0;
  for (const Result& result : results) {
    total.macs += result.macs;
    total.accesses += result.accesses;
    total.time.compute += result.time.compute;
    total.time.bus_wait += result.time.bus_wait;
    total.time.ramp_up += result.time.ramp_up;
    total.energy += result.energy;
    active_cycles += result.active_elements * static_cast<double>(result.time.total());
  }
  if (total.time.total() > 0)
    total.active_elements = active_cycles / static_cast<double>(total.time.total());
  return total;
}

}  // namespace lockstep::internal::dataflow
