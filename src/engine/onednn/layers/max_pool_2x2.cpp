#include "engine/onednn/kernels/pool_kernels.h"
#include "engine/onednn/layers/channel_block.h"
#include "engine/onednn/layers/layers.h"

#include <algorithm>

namespace lockstep::internal::engine::onednn {

using dnnl::memory;

namespace {

std::uint8_t* bytes(float* operand) {
  return reinterpret_cast<std::uint8_t*>(operand);
}

/// The number of channels in a block, if all blocks are full; 0 otherwise.
std::size_t block_of(const memory::desc& layout) {
  const std::size_t block = channel_block(layout);
  return block > 1 && static_cast<std::size_t>(layout.dims()[1]) % block == 0 ? block : 0;
}

PooledShape pooled(const memory::desc& layout) {
  const memory::dims shape = layout.dims();
  const std::size_t block = block_of(layout);
  return {static_cast<std::size_t>(shape[0] * shape[1]) / block,
          static_cast<std::size_t>(shape[2] / 2), static_cast<std::size_t>(shape[3] / 2), block};
}

/// The layout with half the height and width.
memory::desc halved(const memory::desc& layout) {
  memory::dims shape = layout.dims();
  shape[2] /= 2;
  shape[3] /= 2;
  const bool wide = block_of(layout) == 16;
  return {shape, kFloat, wide ? memory::format_tag::nChw16c : memory::format_tag::nChw8c};
}

}  // namespace

bool is_max_pool_2x2(const Layer& layer, const memory::desc& input) {
  const Window& window = layer.window;
  const memory::dims shape = input.dims();
  return layer.kind == LayerKind::max_pool && window.size == Extent{2, 2} &&
         window.stride == Extent{2, 2} && window.padding == Extent{0, 0} && shape[2] % 2 == 0 &&
         shape[3] % 2 == 0 && block_of(input) > 0;
}

int add_max_pool_2x2(Builder& builder, const Layer& layer, int input) {
  const Operand from = builder.value(input);
  const PooledShape shape = pooled(from.layout);
  const memory::desc layout = halved(from.layout);
  const int output = builder.add_value(builder.buffer(layout), true, /*overwritable=*/true);
  std::vector<Operand> operands{from, builder.value(output)};
  if (builder.options().training)
    operands.push_back(builder.buffer(
        {layout.dims(), memory::data_type::u8, memory::format_tag::abcd}));  // one byte a choice
  builder.step(layer.name + " forward", operands, [shape](std::span<float* const> places, Pass&) {
    pool_kernels().forward(places[0], places[1], places.size() > 2 ? bytes(places[2]) : nullptr,
                           shape);
  });
  if (!builder.wants_gradient(input)) return output;
  builder.on_backward([=, &builder] {
    const Operand gradient = builder.buffer(from.layout);
    builder.step(layer.name + " backward", {builder.gradient(output), operands[2], gradient},
                 [shape](std::span<float* const> places, Pass&) {
                   pool_kernels().backward(places[0], bytes(places[1]), places[2], shape);
                 });
    builder.add_gradient(input, gradient);
  });
  return output;
}

}  // namespace lockstep::internal::engine::onednn
