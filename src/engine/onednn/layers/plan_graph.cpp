#include "engine/onednn/layers/plan_graph.h"

#include "engine/onednn/layers/layers.h"

namespace lockstep::internal::engine::onednn {

namespace {

/// A kernel that covers the whole map gives one value per channel: this is a matrix product, which
/// costs less to set up and needs no padding of channels.
bool covers_map(const Layer& layer, const dnnl::memory::dims& input) {
  return layer.window.padding == Extent{0, 0} && layer.window.size[0] == input[2] &&
         layer.window.size[1] == input[3];
}

int add_layer(Builder& builder, const Layer& layer, int input, int other) {
  switch (layer.kind) {
    case LayerKind::convolution:
      return covers_map(layer, builder.value(input).layout.dims())
                 ? add_linear(builder, layer, input)
                 : add_convolution(builder, layer, input);
    case LayerKind::linear:
      return add_linear(builder, layer, input);
    case LayerKind::batch_norm:
      return layer.group && builder.options().training ? add_sync_batch_norm(builder, layer, input)
                                                       : add_batch_norm(builder, layer, input);
    case LayerKind::max_pool:
    case LayerKind::average_pool:
      return is_max_pool_2x2(layer, builder.value(input).layout)
                 ? add_max_pool_2x2(builder, layer, input)
                 : add_pool(builder, layer, input);
    case LayerKind::add:
      return add_addition(builder, layer, input, other);
    default:
      return add_elementwise(builder, layer, input);
  }
}

}  // namespace

Draft plan_graph(const dnnl::engine& engine, const LayerGraph& graph, const PlanOptions& options,
                 Layouts& layouts) {
  Builder builder(engine, options, layouts);
  const data::ImageShape& shape = graph.images;
  const int images = builder.add_value(
      {Home::images, 0, plain({options.batch, shape.channels, shape.height, shape.width})},
      /*wants_gradient=*/false);
  const std::vector<int> uses = count_uses(graph);
  std::vector<int> values;  // by layer
  for (const Layer& layer : graph.layers) {
    auto value = [&](std::size_t i) {
      const int input = layer.inputs[i];
      return input == kImages ? images : values[static_cast<std::size_t>(input)];
    };
    values.push_back(add_layer(builder, layer, value(0), value(layer.inputs.size() - 1)));
    if (uses[values.size() - 1] > 1) builder.keep(values.back());
  }
  add_loss(builder, values.back());
  return builder.finish();
}

}  // namespace lockstep::internal::engine::onednn
