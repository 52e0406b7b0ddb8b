#include "dataflow/row_stationary.h"

#include <algorithm>

namespace lockstep::internal::dataflow {

namespace {

/// `each` for every full group, and for the rest the turns that `lanes` lanes need.
Count turns(Count all, Count each, Count lanes) {
  const Count size = each * lanes;
  return all / size * each + ceil_div(all % size, lanes);
}

/// `sets` for every full group, and for the rest at most one set per item.
Count sets_used(Count all, Count each, Count sets) {
  const Count size = each * sets;
  return all / size * sets + std::min(all % size, sets);
}

Accesses accesses_of(const Layer& layer, const Mapping& mapping, const Loops& loops) {
  const Count rows = loops.strips * layer.used_rows(mapping.e);
  const Count maps = layer.batch * layer.channels * layer.used_width();
  const Count fetched_filters = layer.weights() * loops.strips * loops.image_groups;
  Accesses all;
  all.registers = {layer.macs(), layer.macs(), 2 * layer.macs()};
  all.array.filter = fetched_filters * mapping.e;
  all.array.ifmap = maps * loops.strips * layer.kernel_height * mapping.e * loops.filter_sets;
  all.array.psum =
      layer.outputs() * (layer.kernel_height * loops.channel_sets - loops.channel_groups);
  all.buffer.filter = fetched_filters;
  all.buffer.ifmap = maps * rows * loops.filter_groups;
  // The first pass reads no psums, but complete sums are read once more for the DRAM.
  all.buffer.psum = 2 * layer.outputs() * loops.channel_groups;
  all.dram = {fetched_filters, maps * rows * loops.filter_blocks, layer.outputs()};
  return all;
}

Cycles cycles_of(const Layer& layer, const Chip& chip, const Mapping& mapping,
                 const Accesses& accesses, const Loops& loops) {
  Cycles cycles;
  cycles.compute = layer.groups * loops.strips * layer.batch * layer.out_width() *
                   layer.kernel_width * loops.filter_turns * loops.channel_turns;
  cycles.psum_bus = ceil_div(accesses.buffer.psum / 2, chip.buses.psum);
  cycles.ifmap_bus = ceil_div(accesses.buffer.ifmap, chip.buses.ifmap);
  const Count first_windows = loops.strips * loops.image_groups * loops.filter_groups *
                              layer.channels * layer.kernel_width * layer.used_rows(mapping.e);
  cycles.ramp_up = ceil_div(accesses.buffer.filter, chip.buses.filter) +
                   ceil_div(first_windows, chip.buses.ifmap);
  return cycles;
}

}  // namespace

Loops loops_of(const Layer& layer, const Mapping& mapping) {
  const Count channels = layer.group_channels(), filters = layer.group_filters();
  return {.strips = ceil_div(layer.out_height(), mapping.e),
          .image_groups = ceil_div(layer.batch, mapping.n),
          .filter_blocks = ceil_div(filters, mapping.m),
          .filter_groups = ceil_div(filters, mapping.p * mapping.t),
          .channel_groups = ceil_div(channels, mapping.q * mapping.r),
          .filter_turns = turns(filters, mapping.p, mapping.t),
          .channel_turns = turns(channels, mapping.q, mapping.r),
          .filter_sets = sets_used(filters, mapping.p, mapping.t),
          .channel_sets = sets_used(channels, mapping.q, mapping.r)};
}

Cost cost_of(const Layer& layer, const Chip& chip, const Mapping& mapping) {
  const Loops loops = loops_of(layer, mapping);
  const Accesses accesses = accesses_of(layer, mapping, loops);
  return {layer.macs(), accesses, cycles_of(layer, chip, mapping, accesses, loops)};
}

Count active_elements(const Layer& layer, const Mapping& mapping) {
  return layer.kernel_height * mapping.e * mapping.r * mapping.t;
}

}  // namespace lockstep::internal::dataflow
