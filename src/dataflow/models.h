// The convolutions of well-known models, and of those that Lockstep trains.
#pragma once

#include "dataflow/layer.h"

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::dataflow {

/// alexnet and vgg16 as trained on ImageNet, with which accelerators are measured; lenet5, vgg11
/// and resnet18 as in `lockstep train`.
std::vector<std::string> model_names();

/// The layers in the order of the forward pass. Throws UsageError for an unknown name.
std::vector<Layer> model_layers(std::string_view model, Count batch);

}  // namespace lockstep::internal::dataflow
