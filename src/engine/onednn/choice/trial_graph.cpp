#include "engine/onednn/choice/trial_graph.h"

namespace lockstep::internal::engine::onednn {

LayerGraph trial_graph(const ConvolutionShape& shape) {
  LayerGraph graph;
  auto add = [&](LayerKind kind, const std::string& name, std::int64_t outputs,
                 const Window& window, const std::vector<std::int64_t>& weights) {
    const int number = static_cast<int>(graph.layers.size());
    graph.layers.push_back({.kind = kind,
                            .name = name,
                            .inputs = {number == 0 ? kImages : number - 1},
                            .outputs = outputs,
                            .window = window,
                            .weight = number});
    graph.parameters.push_back({name, weights});
  };
  const std::int64_t channels = shape.input_gradient ? 3 : shape.channels_in;
  graph.images = {static_cast<int>(channels), static_cast<int>(shape.input[0]),
                  static_cast<int>(shape.input[1])};
  if (shape.input_gradient)
    add(LayerKind::convolution, "before", shape.channels_in, {{3, 3}, {1, 1}, {1, 1}},
        {shape.channels_in, channels, 3, 3});
  add(LayerKind::convolution, kTrialLayer, shape.channels_out, shape.window,
      {shape.channels_out, shape.channels_in, shape.window.size[0], shape.window.size[1]});
  constexpr std::int64_t kClasses = 2;
  add(LayerKind::linear, "after", kClasses, {},
      {kClasses, shape.channels_out * shape.output[0] * shape.output[1]});
  return graph;
}

data::Batch trial_batch(const LayerGraph& graph, std::int64_t images) {
  const auto count = static_cast<std::size_t>(images);
  data::Batch batch;
  batch.labels.assign(count, 0);
  batch.pixels.resize(count * graph.images.pixels());
  for (std::size_t i = 0; i < batch.pixels.size(); ++i)
    batch.pixels[i] = static_cast<float>(i % 5) - 2;
  return batch;
}

void fill_for_trial(const ParameterStore& store) {
  for (std::size_t i = 0; i < store.places().size(); ++i)
    for (std::size_t j = 0; j < store.parameters()[i].count; ++j)
      store.places()[i][j] = 0.01f * (static_cast<float>(j % 7) - 3);
}

}  // namespace lockstep::internal::engine::onednn
