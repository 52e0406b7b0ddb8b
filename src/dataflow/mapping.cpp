#include "dataflow/mapping.h"

#include <lockstep/error.h>

#include <fmt/format.h>

namespace lockstep::internal::dataflow {

namespace {

using Reason = std::optional<std::string>;

Reason beyond_layer(const Layer& layer, const Mapping& mapping) {
  for (Count value : {mapping.m, mapping.n, mapping.e, mapping.p, mapping.q, mapping.r, mapping.t})
    if (value < 1) return fmt::format("{}: all of them must be at least 1", text_of(mapping));
  if (mapping.n > layer.batch)
    return fmt::format("n is {}, but the batch has {} images", mapping.n, layer.batch);
  if (mapping.e > layer.out_height())
    return fmt::format("e is {}, but the output has {} rows", mapping.e, layer.out_height());
  if (mapping.m % (mapping.p * mapping.t) != 0 && mapping.m < layer.group_filters())
    return fmt::format("m is {}, which is not a multiple of p · t = {}", mapping.m,
                       mapping.p * mapping.t);
  return {};
}

Reason beyond_array(const Layer& layer, const Chip& chip, const Mapping& mapping) {
  if (layer.kernel_height > chip.rows)
    return fmt::format("a filter of {} rows is taller than the array of {}", layer.kernel_height,
                       chip.rows);
  const Count room = place(layer, chip, mapping.e).sets();
  if (mapping.r * mapping.t > room)
    return fmt::format("r · t is {}, but the array of {}×{} has space for {} sets of {}×{}",
                       mapping.r * mapping.t, chip.rows, chip.columns, room, layer.kernel_height,
                       mapping.e);
  return {};
}

Reason beyond_registers(const Layer& layer, const Chip& chip, const Mapping& mapping) {
  const auto over = [](const char* what, const char* formula, Count need, Count have) -> Reason {
    if (need <= have) return {};
    return fmt::format("{} registers: {} is {} words, but an element has {}", what, formula, need,
                       have);
  };
  const Count window = mapping.q * layer.kernel_width;
  if (Reason reason = over("ifmap", "q · S", window, chip.registers.ifmap)) return reason;
  if (Reason reason = over("filter", "p · q · S", mapping.p * window, chip.registers.filter))
    return reason;
  return over("psum", "p", mapping.p, chip.registers.psum);
}

Reason beyond_buffers(const Layer& layer, const Chip& chip, const Mapping& mapping) {
  const Count need = buffer_need(layer, mapping);
  if (need > chip.buffer_words())
    return fmt::format("psums and input of a pass are {} words, but the buffer has {}", need,
                       chip.buffer_words());
  const Count filters =
      mapping.p * mapping.q * mapping.r * mapping.t * layer.kernel_height * layer.kernel_width;
  if (filters > chip.filter_buffer_words())
    return fmt::format("the filters of a pass are {} words, but the filter buffer has {}", filters,
                       chip.filter_buffer_words());
  return {};
}

}  // namespace

Placement place(const Layer& layer, const Chip& chip, Count columns) {
  Placement placement{.set_rows = layer.kernel_height, .set_columns = columns};
  placement.folds = ceil_div(columns, chip.columns);
  placement.down = chip.rows / layer.kernel_height / placement.folds;
  placement.across = placement.folds > 1 ? 1 : chip.columns / columns;
  return placement;
}

Reason forbidden(const Layer& layer, const Chip& chip, const Mapping& mapping) {
  if (Reason reason = beyond_layer(layer, mapping)) return reason;
  if (Reason reason = beyond_array(layer, chip, mapping)) return reason;
  if (Reason reason = beyond_registers(layer, chip, mapping)) return reason;
  return beyond_buffers(layer, chip, mapping);
}

void require_allowed(const Layer& layer, const Chip& chip, const Mapping& mapping) {
  if (const Reason reason = forbidden(layer, chip, mapping))
    throw UsageError(fmt::format("layer {}: the mapping {} is not allowed: {}", layer.name,
                                 text_of(mapping), *reason));
}

Count buffer_need(const Layer& layer, const Mapping& mapping) {
  const Count psums = mapping.m * mapping.e * layer.out_width();
  const Count input = mapping.q * mapping.r * layer.used_rows(mapping.e) * layer.used_width();
  return mapping.n * (psums + input);
}

std::string text_of(const Mapping& mapping) {
  return fmt::format("m {}, n {}, e {}, p {}, q {}, r {}, t {}", mapping.m, mapping.n, mapping.e,
                     mapping.p, mapping.q, mapping.r, mapping.t);
}

}  // namespace lockstep::internal::dataflow
