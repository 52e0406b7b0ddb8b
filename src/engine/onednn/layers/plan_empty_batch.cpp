#include "engine/onednn/layers/plan_empty_batch.h"

#include "engine/onednn/layers/sync_norm.h"

#include <algorithm>

namespace lockstep::internal::engine::onednn {

namespace {

void add_sync_batch_norm(Builder& builder, const Layer& layer, std::size_t channels) {
  const auto norm = std::make_shared<SyncNorm>(layer, channels, NormShape{0, channels, 0, 1});
  builder.step(layer.name + " statistics", {},
               [norm](std::span<float* const>, Pass&) { norm->find_statistics(nullptr); });
  builder.on_backward([=, &builder] {
    builder.step(layer.name + " backward to its weights",
                 {builder.gradients(layer.weight), builder.gradients(layer.bias)},
                 [norm](std::span<float* const> places, Pass&) {
                   norm->differentiate_parameters(nullptr, nullptr, places[0], places[1]);
                 },
                 {layer.bias, layer.weight});
    builder.step(layer.name + " backward to its input", {builder.weights(layer.weight)},
                 [norm](std::span<float* const> places, Pass&) {
                   norm->differentiate_input(nullptr, nullptr, places[0], nullptr);
                 });
  });
}

void add_parameters(Builder& builder, const Layer& layer) {
  builder.on_backward([=, &builder] {
    builder.step(layer.name + " backward", {}, [](std::span<float* const>, Pass&) {},
                 {layer.bias, layer.weight});
  });
}

}  // namespace

Draft plan_empty_batch(const dnnl::engine& engine, const LayerGraph& graph, Layouts& layouts) {
  Builder builder(engine, {.batch = 0}, layouts);
  for (const Layer& layer : graph.layers) {
    if (layer.weight == kNone) continue;
    const auto& shape = graph.parameters[static_cast<std::size_t>(layer.weight)].shape;
    if (layer.group)
      add_sync_batch_norm(builder, layer, static_cast<std::size_t>(shape[0]));
    else
      add_parameters(builder, layer);
  }
  return builder.finish();
}

bool normalises_together(const LayerGraph& graph) {
  return std::ranges::any_of(graph.layers,
                             [](const Layer& layer) { return layer.group.has_value(); });
}

}  // namespace lockstep::internal::engine::onednn
