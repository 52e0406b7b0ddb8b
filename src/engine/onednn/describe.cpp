#include "engine/onednn/describe.h"

#include <lockstep/error.h>

#include "ddp/gradient_hooks.h"
#include "engine/onednn/describe_layers.h"
#include "models/lenet5.h"
#include "models/resnet.h"
#include "models/vgg.h"

#include <fmt/format.h>

namespace lockstep::engine::onednn {

namespace {

Values add_block(Description& network, models::BasicBlockImpl& block, const std::string& name,
                 const Values& input) {
  Values middle = network.add(*block.conv1, name + ".conv1", input);
  middle = network.add(*block.bn1, name + ".bn1", middle);
  middle = network.add_relu(name + ".relu1", middle);
  middle = network.add(*block.conv2, name + ".conv2", middle);
  middle = network.add(*block.bn2, name + ".bn2", middle);
  const Values shortcut = block.downsample->is_empty()
                              ? input
                              : network.add(*block.downsample, name + ".downsample", input);
  return network.add_relu(name + ".relu2", network.add_sum(name + ".add", middle, shortcut));
}

Values add_resnet(Description& network, models::ResNetImpl& model) {
  Values values = network.add(*model.conv1, "conv1", network.images());
  values = network.add_relu("relu", network.add(*model.bn1, "bn1", values));
  values = network.add(*model.layer1, "layer1", values);
  values = network.add(*model.layer2, "layer2", values);
  values = network.add(*model.layer3, "layer3", values);
  values = network.add(*model.layer4, "layer4", values);
  values = network.add_average_pool("pool", values, {{4, 4}, {4, 4}, {0, 0}});
  return network.add(*model.fc, "fc", Description::flat(values));
}

}  // namespace

/// Here, since a block is a model's part and no layer of torch's.
Values add_block_of_model(Description& network, torch::nn::Module& module, const std::string& name,
                          const Values& input) {
  auto* block = dynamic_cast<models::BasicBlockImpl*>(&module);
  if (!block) refuse(name, module, "is not a layer that it knows");
  return add_block(network, *block, name, input);
}

Network describe(models::Classifier& model) {
  Description network(model, model.images());
  if (auto* lenet5 = dynamic_cast<models::LeNet5Impl*>(&model)) {
    const Values maps = network.add(*lenet5->features, "features", network.images());
    return network.finish(network.add(*lenet5->classifier, "classifier", Description::flat(maps)));
  }
  if (auto* vgg = dynamic_cast<models::VggImpl*>(&model)) {
    const Values maps = network.add(*vgg->features, "features", network.images());
    return network.finish(network.add(*vgg->classifier, "classifier", Description::flat(maps)));
  }
  if (auto* resnet = dynamic_cast<models::ResNetImpl*>(&model))
    return network.finish(add_resnet(network, *resnet));
  throw UsageError(fmt::format(
      "the onednn engine does not know how the layers of {} follow each other: use --engine torch",
      model.name()));
}

Network describe(torch::nn::Sequential& model, const data::ImageShape& images) {
  Description network(*model, images);
  return network.finish(network.add(*model, "", network.images()));
}

}  // namespace lockstep::engine::onednn
