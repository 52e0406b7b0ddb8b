#include "dataflow/other_dataflows.h"

#include <lockstep/error.h>

#include "dataflow/parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lockstep::internal::dataflow {

namespace {

struct Candidate {
  Cost cost;
  Count active = 0;
  std::string arrangement;
};

/// How often input maps and filters are fetched from the DRAM.
struct Fetches {
  Count ifmap_words;
  Count filter_words;
};

class Others {
 public:
  Others(const Layer& layer, const Chip& chip, Goal goal)
      : layer_(layer), chip_(chip), goal_(goal) {}

  Candidate weight_stationary() {
    const Count taps = layer_.kernel_height * layer_.kernel_width;
    const Count planes = std::max<Count>(1, chip_.elements() / taps);
    for (Count channels : even_parts(layer_.group_channels(), planes))
      for (Count filters : even_parts(layer_.group_filters(), planes / channels))
        for (Count e : even_parts(layer_.out_height(), layer_.out_height()))
          for (Count n : even_parts(layer_.batch, layer_.batch))
            try_weights(channels, filters, e, n);
    return best_;
  }

  Candidate output_stationary() {
    for (Count rows : even_parts(layer_.out_height(), chip_.elements()))
      for (Count columns : even_parts(layer_.out_width(), chip_.elements() / rows))
        for (Count filters :
             even_parts(layer_.group_filters(), chip_.elements() / (rows * columns)))
          try_outputs(rows, columns, filters);
    return best_;
  }

  Candidate no_local_reuse() {
    for (Count channels : even_parts(layer_.group_channels(), chip_.elements()))
      for (Count filters : even_parts(layer_.group_filters(), chip_.elements() / channels))
        try_nothing_kept(channels, filters);
    return best_;
  }

 private:
  Count taps() const { return layer_.kernel_height * layer_.kernel_width; }
  Count all_rows() const { return layer_.used_rows(layer_.out_height()); }

  /// `channels` × `filters` planes of weights are on the array; a filter larger than the array
  /// takes `folds` turns. Psums of m filters, n images, e rows stay in the buffer.
  void try_weights(Count channels, Count filters, Count e, Count n) {
    const Count input = channels * layer_.used_rows(e) * layer_.used_width();
    const Count room = chip_.buffer_words() / n - input;
    const Count most = room < 0 ? 0 : room / (e * layer_.out_width());
    if (most < std::min(filters, layer_.group_filters())) return;
    const Count m = std::min(most / filters * filters, layer_.group_filters());
    const Count folds = ceil_div(taps(), chip_.elements());
    const Count sums = ceil_div(layer_.group_channels(), channels) * folds;
    const Count turns = ceil_div(layer_.group_filters(), filters);
    const Count strips = ceil_div(layer_.out_height(), e);
    const Count fetched = layer_.weights() * strips * ceil_div(layer_.batch, n);
    const Count maps =
        layer_.batch * layer_.channels * layer_.used_width() * strips * layer_.used_rows(e);
    Accesses all;
    all.registers.filter = layer_.macs();
    all.array = {fetched, layer_.macs(), layer_.macs() - layer_.outputs() * sums};
    all.buffer = {fetched, maps * turns * folds, 2 * layer_.outputs() * sums};
    all.dram = {fetched, maps * ceil_div(layer_.group_filters(), m), layer_.outputs()};
    Cycles cycles{
        .compute = layer_.groups * turns * sums * layer_.batch * strips * e * layer_.out_width(),
        .psum_bus = ceil_div(layer_.outputs() * sums, chip_.buses.psum),
        .ifmap_bus = ceil_div(all.buffer.ifmap, chip_.buses.ifmap),
        .ramp_up = ceil_div(fetched, chip_.buses.filter)};
    consider({{layer_.macs(), all, cycles},
              std::min(channels * filters * taps(), chip_.elements()),
              fmt::format("{} channels × {} filters", channels, filters)});
  }

  /// A tile of rows × columns outputs of `filters` filters stays until all channels were added;
  /// neighbours pass inputs on.
  void try_outputs(Count rows, Count columns, Count filters) {
    const Count tiles = ceil_div(layer_.out_height(), rows) * ceil_div(layer_.out_width(), columns);
    const Count turns = ceil_div(layer_.group_filters(), filters);
    const Count tile_input =
        layer_.used_rows(rows) * covered(columns, layer_.kernel_width, layer_.stride);
    const Fetches fetches = fetches_of(filters, 0);
    Accesses all;
    all.registers.psum = 2 * layer_.macs();
    all.array = {layer_.macs(), layer_.macs(), 0};
    all.buffer = {layer_.weights() * layer_.batch * tiles,
                  layer_.batch * layer_.channels * tiles * tile_input * turns, layer_.outputs()};
    all.dram = {fetches.filter_words, fetches.ifmap_words, layer_.outputs()};
    const Count compute =
        layer_.groups * layer_.batch * tiles * turns * layer_.group_channels() * taps();
    consider({{layer_.macs(), all, streaming(all, compute)},
              rows * columns * filters,
              fmt::format("{}×{} outputs × {} filters", rows, columns, filters)});
  }

  void try_nothing_kept(Count channels, Count filters) {
    const Count sums = ceil_div(layer_.group_channels(), channels) * taps();
    const Count turns = ceil_div(layer_.group_filters(), filters);
    const Fetches fetches = fetches_of(filters, layer_.out_width());
    const Count inputs = layer_.outputs() / layer_.filters * layer_.channels * taps();
    Accesses all;
    all.array = {layer_.macs(), layer_.macs(), layer_.macs() - layer_.outputs() * sums};
    all.buffer = {layer_.macs(), inputs * turns, 2 * layer_.outputs() * sums};
    all.dram = {fetches.filter_words, fetches.ifmap_words, layer_.outputs()};
    const Count compute = layer_.outputs() / layer_.group_filters() * turns * sums;
    consider({{layer_.macs(), all, streaming(all, compute)},
              channels * filters,
              fmt::format("{} channels × {} filters", channels, filters)});
  }

  Cycles streaming(const Accesses& all, Count compute) const {
    return {.compute = compute,
            .psum_bus = ceil_div(all.buffer.psum / 2, chip_.buses.psum),
            .ifmap_bus = ceil_div(all.buffer.ifmap, chip_.buses.ifmap),
            .filter_bus = ceil_div(all.buffer.filter, chip_.buses.filter)};
  }

  /// The cheapest of three: filters stay in the buffer and maps are fetched for each block of
  /// filters; a strip of the maps stays and filters are fetched for each strip; nothing stays.
  /// `psums` are the words that a filter's incomplete row needs.
  Fetches fetches_of(Count filters, Count psums) const {
    const Count words = chip_.buffer_words() + chip_.filter_buffer_words();
    const Count row = layer_.group_channels() * layer_.used_width();
    const Count maps = layer_.batch * layer_.channels * layer_.used_width();
    Fetches best{maps * all_rows() * ceil_div(layer_.group_filters(), filters),
                 layer_.weights() * layer_.batch * layer_.out_height()};
    const auto offer = [&](Fetches other) {
      if (other.ifmap_words + other.filter_words < best.ifmap_words + best.filter_words)
        best = other;
    };
    for (Count m : even_parts(layer_.group_filters(), layer_.group_filters()))
      if (m * (layer_.group_channels() * taps() + psums) + row * layer_.kernel_height <= words)
        offer({maps * all_rows() * ceil_div(layer_.group_filters(), m), layer_.weights()});
    for (Count e : even_parts(layer_.out_height(), layer_.out_height())) {
      const Count strips = ceil_div(layer_.out_height(), e);
      if (row * layer_.used_rows(e) + filters * (taps() + psums) <= words)
        offer({maps * strips * layer_.used_rows(e), layer_.weights() * strips * layer_.batch});
    }
    return best;
  }

  void consider(Candidate candidate) {
    if (best_.active > 0 && !is_better(chip_, goal_, candidate.cost, best_.cost)) return;
    best_ = std::move(candidate);
  }

  const Layer& layer_;
  const Chip& chip_;
  const Goal goal_;
  Candidate best_;
};

}  // namespace

std::vector<std::string> other_dataflows() {
  return {"weight-stationary", "output-stationary", "no-local-reuse"};
}

Result evaluate_other(std::string_view dataflow, const Layer& layer, const Chip& chip, Goal goal) {
  require_sound(layer);
  require_sound(chip);
  Others others(layer, chip, goal);
  Candidate best;
  if (dataflow == "weight-stationary")
    best = others.weight_stationary();
  else if (dataflow == "output-stationary")
    best = others.output_stationary();
  else if (dataflow == "no-local-reuse")
    best = others.no_local_reuse();
  else
    throw UsageError(fmt::format("unknown dataflow '{}': use row-stationary, {}", dataflow,
                                 fmt::join(other_dataflows(), ", ")));
  if (best.active == 0)
    throw UsageError(fmt::format(
        "layer {}: the buffer of {} words has no space for a row of {} psums and its input",
        layer.name, chip.buffer_words(), dataflow));
  Result result = result_of(chip, best.cost, static_cast<double>(best.active));
  result.name = layer.name;
  result.dataflow = dataflow;
  result.layer = layer;
  result.arrangement = best.arrangement;
  return result;
}

}  // namespace lockstep::internal::dataflow
