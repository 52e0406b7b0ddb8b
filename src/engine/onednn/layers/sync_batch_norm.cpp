#include "engine/onednn/layers/channel_block.h"
#include "engine/onednn/layers/layers.h"
#include "engine/onednn/layers/sync_norm.h"

namespace lockstep::internal::engine::onednn {

using dnnl::memory;

namespace {

NormShape norm_shape(const memory::desc& maps) {
  const memory::dims shape = maps.dims();
  const std::size_t block = channel_block(maps);
  return {static_cast<std::size_t>(shape[0]),
          static_cast<std::size_t>(maps.data.padded_dims[1]) / block,
          static_cast<std::size_t>(shape[2] * shape[3]), block};
}

void add_backward(Builder& builder, const Layer& layer, int input, int output,
                  const std::shared_ptr<SyncNorm>& norm) {
  const Operand values = builder.value(input);
  const Operand gradient = builder.gradient(output);
  builder.step(layer.name + " backward to its weights",
               {values, gradient, builder.gradients(layer.weight), builder.gradients(layer.bias)},
               [norm](std::span<float* const> places, Pass&) {
                 norm->differentiate_parameters(places[0], places[1], places[2], places[3]);
               },
               {layer.bias, layer.weight});
  // Added even if the gradient is not needed, because all ranks must send.
  const Operand result = builder.buffer(values.layout);
  builder.step(layer.name + " backward to its input",
               {values, gradient, builder.weights(layer.weight), result},
               [norm](std::span<float* const> places, Pass&) {
                 norm->differentiate_input(places[0], places[1], places[2], places[3]);
               });
  if (builder.wants_gradient(input)) builder.add_gradient(input, result);
}

}  // namespace

int add_sync_batch_norm(Builder& builder, const Layer& layer, int input) {
  const memory::desc given = builder.value(input).layout;
  const int taken =
      builder.value_as(input, channel_block(given) > 0 ? given : plain(given.dims()), layer.name);
  const Operand values = builder.value(taken);
  const std::int64_t channels = given.dims()[1];
  for (int parameter : {layer.weight, layer.bias}) builder.layout(parameter, plain({channels}));
  const int output = builder.add_value(builder.buffer(values.layout), true, /*overwritable=*/true);
  const auto norm = std::make_shared<SyncNorm>(layer, static_cast<std::size_t>(channels),
                                               norm_shape(values.layout));
  builder.step(layer.name + " statistics", {values},
               [norm](std::span<float* const> places, Pass&) { norm->find_statistics(places[0]); });
  builder.step(
      layer.name + " forward",
      {values, builder.weights(layer.weight), builder.weights(layer.bias), builder.value(output)},
      [norm](std::span<float* const> places, Pass&) {
        norm->normalise(places[0], places[1], places[2], places[3]);
      });
  builder.on_backward([=, &builder] { add_backward(builder, layer, taken, output, norm); });
  return output;
}

}  // namespace lockstep::internal::engine::onednn
