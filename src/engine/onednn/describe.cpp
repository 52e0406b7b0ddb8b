#include "engine/onednn/describe.h"

#include <lockstep/error.h>

#include "ddp/gradient_hooks.h"
#include "engine/onednn/describe_layers.h"
#include "models/lenet5.h"
#include "models/resnet.h"
#include "models/vgg.h"

#include <fmt/format.h>

namespace lockstep::internal::engine::onednn {

namespace {

Values add_block(Description& graph, models::BasicBlockImpl& block, const std::string& name,
                 const Values& input) {
  Values middle = graph.add(*block.conv1, name + ".conv1", input);
  middle = graph.add(*block.bn1, name + ".bn1", middle);
  middle = graph.add_relu(name + ".relu1", middle);
  middle = graph.add(*block.conv2, name + ".conv2", middle);
  middle = graph.add(*block.bn2, name + ".bn2", middle);
  const Values shortcut = block.downsample->is_empty()
                              ? input
                              : graph.add(*block.downsample, name + ".downsample", input);
  return graph.add_relu(name + ".relu2", graph.add_sum(name + ".add", middle, shortcut));
}

Values add_resnet(Description& graph, models::ResNetImpl& model) {
  Values values = graph.add(*model.conv1, "conv1", graph.images());
  values = graph.add_relu("relu", graph.add(*model.bn1, "bn1", values));
  values = graph.add(*model.layer1, "layer1", values);
  values = graph.add(*model.layer2, "layer2", values);
  values = graph.add(*model.layer3, "layer3", values);
  values = graph.add(*model.layer4, "layer4", values);
  values = graph.add_average_pool("pool", values, {{4, 4}, {4, 4}, {0, 0}});
  return graph.add(*model.fc, "fc", Description::flat(values));
}

}  // namespace

/// Defined here, because a block is part of a model and not a layer of torch.
Values add_block_of_model(Description& graph, torch::nn::Module& module, const std::string& name,
                          const Values& input) {
  auto* block = dynamic_cast<models::BasicBlockImpl*>(&module);
  if (!block) refuse(name, module, "is not a known layer");
  return add_block(graph, *block, name, input);
}

LayerGraph describe(models::Classifier& model) {
  Description graph(model, model.images());
  if (auto* lenet5 = dynamic_cast<models::LeNet5Impl*>(&model)) {
    const Values maps = graph.add(*lenet5->features, "features", graph.images());
    return graph.finish(graph.add(*lenet5->classifier, "classifier", Description::flat(maps)));
  }
  if (auto* vgg = dynamic_cast<models::VggImpl*>(&model)) {
    const Values maps = graph.add(*vgg->features, "features", graph.images());
    return graph.finish(graph.add(*vgg->classifier, "classifier", Description::flat(maps)));
  }
  if (auto* resnet = dynamic_cast<models::ResNetImpl*>(&model))
    return graph.finish(add_resnet(graph, *resnet));
  throw UsageError(
      fmt::format("the onednn engine does not know the order of {}'s layers: use --engine torch",
                  model.name()));
}

LayerGraph describe(torch::nn::Sequential& model, const data::ImageShape& images) {
  Description graph(*model, images);
  return graph.finish(graph.add(*model, "", graph.images()));
}

}  // namespace lockstep::internal::engine::onednn
