#include "engine/onednn/layers/tile_convolution.h"

#include <omp.h>

namespace lockstep::internal::engine::onednn {

using dnnl::memory;

namespace {

/// A scratch buffer of the arena.
Operand floats(Builder& builder, std::size_t count) {
  return builder.buffer(plain({static_cast<std::int64_t>(count)}));
}

bool lies(const memory::desc& layout, memory::format_tag tag) {
  return layout == memory::desc(layout.dims(), memory::data_type::f32, tag);
}

}  // namespace

std::optional<TileShape> tile_shape(const Window& window, const memory::desc& input,
                                    const memory::desc& weights, const memory::desc& output) {
  const memory::dims in = input.dims();
  const std::int64_t out = output.dims()[1];
  const bool tiles = (in[2] == 2 && in[3] == 2) || (in[2] % 4 == 0 && in[3] % 4 == 0);
  const bool fits = window.size == Extent{3, 3} && window.stride == Extent{1, 1} &&
                    window.padding == Extent{1, 1} && tiles && in[1] % 16 == 0 && out % 16 == 0;
  const bool lie_so = lies(input, memory::format_tag::nChw16c) &&
                      lies(output, memory::format_tag::nChw16c) &&
                      lies(weights, memory::format_tag::OIhw16i16o);
  if (!fits || !lie_so) return {};
  auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  return TileShape{.batch = size(in[0]),
                   .channels_in = size(in[1]),
                   .channels_out = size(out),
                   .height = size(in[2]),
                   .width = size(in[3]),
                   .threads = size(omp_get_max_threads())};
}

void add_tile_forward(Builder& builder, const Layer& layer, const TileShape& shape,
                      const Operand& input, const Operand& output) {
  std::vector<Operand> operands{input, builder.weights(layer.weight), output,
                                floats(builder, scratch_of_forward(shape))};
  if (layer.bias != kNone) operands.push_back(builder.weights(layer.bias));
  builder.step(layer.name + " forward", operands, [shape](std::span<float* const> places, Pass&) {
    const float* bias = places.size() > 4 ? places[4] : nullptr;
    tile_kernels().forward(places[0], places[1], bias, places[2], places[3], shape);
  });
}

void add_tile_backward_data(Builder& builder, const Layer& layer, const TileShape& shape,
                            const Operand& gradient, const Operand& input_gradient) {
  builder.step(layer.name + " backward to its input",
               {gradient, builder.weights(layer.weight), input_gradient,
                floats(builder, scratch_of_backward_data(shape))},
               [shape](std::span<float* const> places, Pass&) {
                 tile_kernels().backward_data(places[0], places[1], places[2], places[3], shape);
               });
}

void add_tile_backward_weights(Builder& builder, const Layer& layer, const TileShape& shape,
                               const Operand& input, const Operand& gradient) {
  std::vector<Operand> operands{input, gradient, builder.gradients(layer.weight),
                                floats(builder, scratch_of_backward_weights(shape))};
  if (layer.bias != kNone) operands.push_back(builder.gradients(layer.bias));
  builder.step(layer.name + " backward to its weights", operands,
               [shape](std::span<float* const> places, Pass&) {
                 float* bias = places.size() > 4 ? places[4] : nullptr;
                 tile_kernels().backward_weights(places[0], places[1], places[2], bias, places[3],
                                                 shape);
               },
               {layer.bias, layer.weight});
}

}  // namespace lockstep::internal::engine::onednn
