#include "dataflow/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lockstep::internal::dataflow {

namespace {

/// Counts the numbers in 0 … count − 1 that leave `remainder` after adding `offset`.
Count with_remainder(Count count, Count offset, Count remainder, Count stride) {
  Count found = 0;
  for (Count first = 0; first < std::min(count, stride); ++first)
    if ((first + offset) % stride == remainder) found = ceil_div(count - first, stride);
  return found;
}

/// A phase along one dimension: its number of outputs, and the taps of each.
struct Phase {
  Count outputs;
  Count taps;
  auto operator<=>(const Phase&) const = default;
};

using Phases = std::map<Phase, Count>;  // the number of occurrences of each phase

Phases input_phases(Count size, Count taps, const Layer& layer) {
  Phases phases;
  for (Count remainder = 0; remainder < std::min(layer.stride, taps); ++remainder) {
    const Count outputs = with_remainder(size, layer.padding, remainder, layer.stride);
    if (outputs > 0) ++phases[{outputs, ceil_div(taps - remainder, layer.stride)}];
  }
  return phases;
}

std::vector<Part> input_gradient(const Layer& layer) {
  std::vector<Part> parts;
  for (const auto& [vertical, times] : input_phases(layer.height, layer.kernel_height, layer))
    for (const auto& [horizontal, more] : input_phases(layer.width, layer.kernel_width, layer)) {
      Layer part = layer;
      std::swap(part.channels, part.filters);
      part.height = vertical.outputs + vertical.taps - 1;
      part.width = horizontal.outputs + horizontal.taps - 1;
      part.kernel_height = vertical.taps;
      part.kernel_width = horizontal.taps;
      part.stride = 1;
      part.padding = 0;
      parts.push_back({part, times * more});
    }
  return parts;
}

/// The smallest number of equal pieces of at most `most`.
Phase pieces_of(Count size, Count most) {
  const Count count = ceil_div(size, most);
  return {count, ceil_div(size, count)};
}

Phases weight_phases(Count taps, Count stride) {
  Phases phases;
  for (Count remainder = 0; remainder < std::min(stride, taps); ++remainder)
    ++phases[{ceil_div(taps - remainder, stride), 0}];
  return phases;
}

std::vector<Part> weight_gradient(const Layer& layer, const Chip& chip) {
  const Phase rows = pieces_of(layer.out_height(), chip.rows);
  const Phase columns =
      pieces_of(layer.out_width(), std::min(chip.registers.ifmap, chip.registers.filter));
  std::vector<Part> parts;
  for (const auto& [vertical, times] : weight_phases(layer.kernel_height, layer.stride))
    for (const auto& [horizontal, more] : weight_phases(layer.kernel_width, layer.stride))
      parts.push_back({{.name = layer.name,
                        .batch = layer.group_channels(),
                        .channels = layer.batch * rows.outputs * columns.outputs,
                        .filters = layer.group_filters(),
                        .height = vertical.outputs + rows.taps - 1,
                        .width = horizontal.outputs + columns.taps - 1,
                        .kernel_height = rows.taps,
                        .kernel_width = columns.taps},
                       layer.groups * times * more});
  return parts;
}

Result times(Result result, const Chip& chip, Count factor) {
  result.macs *= factor;
  result.accesses = result.accesses.times(factor);
  result.time = {result.time.compute * factor, result.time.bus_wait * factor,
                 result.time.ramp_up * factor};
  result.energy = energy_of(chip, result.macs, result.accesses);
  return result;
}

}  // namespace

std::string_view name_of(Pass pass) {
  if (pass == Pass::kForward) return "forward";
  return pass == Pass::kInputGradient ? "input gradient" : "weight gradient";
}

std::vector<Part> parts_of(const Layer& layer, const Chip& chip, Pass pass) {
  if (pass == Pass::kForward) return {{layer, 1}};
  return pass == Pass::kInputGradient ? input_gradient(layer) : weight_gradient(layer, chip);
}

Count useful_macs(const Layer& layer, Pass pass) {
  if (pass != Pass::kInputGradient) return layer.macs();
  Count macs = 0;
  for (const Part& part : input_gradient(layer)) macs += part.times * part.layer.macs();
  return macs;
}

Result evaluate_pass(const Layer& layer, const Chip& chip, Goal goal, Pass pass) {
  std::vector<Result> results;
  for (const Part& part : parts_of(layer, chip, pass))
    results.push_back(
        times(evaluate(part.layer, chip, best_mapping(part.layer, chip, goal)), chip, part.times));
  const Result& largest = *std::max_element(
      results.begin(), results.end(),
      [](const Result& one, const Result& other) { return one.macs < other.macs; });
  Result sum = total_of(results);
  sum.name = layer.name;
  sum.pass = name_of(pass);
  sum.layer = largest.layer;
  sum.mapping = largest.mapping;
  sum.placement = largest.placement;
  sum.arrangement = largest.arrangement;
  sum.bound_by = largest.bound_by;
  return sum;
}

std::vector<Result> evaluate_training(const std::vector<Layer>& layers, const Chip& chip,
                                      Goal goal) {
  std::vector<Result> results;
  for (const Layer& layer : layers)
    for (Pass pass : {Pass::kForward, Pass::kInputGradient, Pass::kWeightGradient}) {
      const bool first = &layer == &layers.front() && layers.size() > 1;
      if (pass == Pass::kInputGradient && first) continue;
      results.push_back(evaluate_pass(layer, chip, goal, pass));
    }
  return results;
}

}  // namespace lockstep::internal::dataflow
