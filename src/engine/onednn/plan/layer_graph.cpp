#include "engine/onednn/plan/layer_graph.h"

namespace lockstep::internal::engine::onednn {

std::vector<int> count_uses(const LayerGraph& graph) {
  std::vector<int> uses(graph.layers.size());
  for (const Layer& layer : graph.layers)
    for (int input : layer.inputs)
      if (input != kImages) ++uses[static_cast<std::size_t>(input)];
  return uses;
}

namespace {

bool can_do_relu(const Layer& layer) {
  return (layer.kind == LayerKind::batch_norm || layer.kind == LayerKind::add) && !layer.then_relu;
}

}  // namespace

LayerGraph fuse_relu(const LayerGraph& graph) {
  const std::vector<int> uses = count_uses(graph);
  LayerGraph fused{graph.images, {}, graph.parameters};
  std::vector<int> moved_to;  // new layer numbers, by old number
  for (const Layer& layer : graph.layers) {
    Layer copy = layer;
    for (int& input : copy.inputs)
      if (input != kImages) input = moved_to[static_cast<std::size_t>(input)];
    const int before = layer.inputs[0];
    const bool follows = layer.kind == LayerKind::relu && before != kImages &&
                         uses[static_cast<std::size_t>(before)] == 1 &&
                         can_do_relu(fused.layers[static_cast<std::size_t>(copy.inputs[0])]);
    if (follows) {
      fused.layers[static_cast<std::size_t>(copy.inputs[0])].then_relu = true;
      moved_to.push_back(copy.inputs[0]);
    } else {
      moved_to.push_back(static_cast<int>(fused.layers.size()));
      fused.layers.push_back(std::move(copy));
    }
  }
  return fused;
}

}  // namespace lockstep::internal::engine::onednn
