// The convolutions of networks that people know, and those that Lockstep trains.
#pragma once

#include "dataflow/layer.h"

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::dataflow {

/// alexnet and vgg16 as trained on ImageNet, which is what chips are measured with; lenet5, vgg11
/// and resnet18 as `lockstep train` has them.
std::vector<std::string> network_names();

/// In the order of the forward pass. Throws UsageError for a name that is not known.
std::vector<Layer> network_layers(std::string_view network, Count batch);

}  // namespace lockstep::dataflow
