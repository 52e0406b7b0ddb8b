// From torch modules to a network that a plan can be made for.
#pragma once

#include "engine/onednn/network.h"
#include "models/classifier.h"

#include <torch/torch.h>

namespace lockstep::engine::onednn {

/// LeNet-5, every VGG and every ResNet. The parameters are numbered as ddp::describe() does it.
/// Batch norm's statistics are the module's own: it must outlive the use of the network. Throws
/// UsageError that names the first layer that a plan cannot hold, and why.
Network describe(models::Classifier& model);

/// The same for a Sequential of Conv2d, BatchNorm2d, SyncBatchNorm, ReLU, Tanh, MaxPool2d,
/// AvgPool2d, Flatten, Linear, Identity, our own forms of these, BasicBlock, and Sequentials of
/// these; it takes such images and puts out one score a class.
Network describe(torch::nn::Sequential& model, const data::ImageShape& images);

}  // namespace lockstep::engine::onednn
