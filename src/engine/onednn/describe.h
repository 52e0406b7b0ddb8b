// Describes torch modules as a layer graph, for which a plan can be made.
#pragma once

#include "engine/onednn/plan/layer_graph.h"
#include "models/classifier.h"

#include <torch/torch.h>

namespace lockstep::internal::engine::onednn {

/// Supports LeNet-5, every VGG and every ResNet. Parameters are numbered as in ddp::describe().
/// Running statistics stay in the module, which must outlive the graph's use. Throws UsageError
/// that names the first unsupported layer, and the reason.
LayerGraph describe(models::Classifier& model);

/// The same for a Sequential of Conv2d, BatchNorm2d, SyncBatchNorm, ReLU, Tanh, MaxPool2d,
/// AvgPool2d, Flatten, Linear, Identity, our variants of these, BasicBlock, and Sequentials of
/// these. It must accept such images and give one score per class.
LayerGraph describe(torch::nn::Sequential& model, const data::ImageShape& images);

}  // namespace lockstep::internal::engine::onednn
