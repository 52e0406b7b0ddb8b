// Makes models by name, and converts their state to stored tensors.
#pragma once

#include "models/classifier.h"
#include "models/model_names.h"
#include "models/stored_tensor.h"

#include <torch/torch.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::models {

/// A new model with default initialisation (call torch::manual_seed first for reproducible
/// weights), drawn in float32 for any type, so that a seed gives the same weights in all types.
/// Throws UsageError with the known names. REQUIRES: type is float32 or float64.
std::shared_ptr<Classifier> make_model(std::string_view name, DataType type = DataType::float32);

/// Converts the floating-point parameters and buffers to `type`, as module.to(dtype) does in
/// Python; libtorch's Module::to would convert batch norm's counters too.
void convert(torch::nn::Module& module, DataType type);

/// Copies of the module's parameters, of its buffers (batch norm's running statistics), and of
/// both, in PyTorch's plain contiguous layout.
std::vector<StoredTensor> parameters_of(const torch::nn::Module& module);
std::vector<StoredTensor> buffers_of(const torch::nn::Module& module);
std::vector<StoredTensor> state_of(const torch::nn::Module& module);

/// Views of the module's buffers. REQUIRES: they are contiguous.
std::vector<ArrayView> buffer_views(torch::nn::Module& module);

/// Copies `state` into the module's parameters and buffers in place, so that views of them see the
/// new values. Names must be exactly the module's, and shapes equal; F32 and F64 convert into each
/// other (F64 rounds to the nearest F32), other types must be equal. Otherwise throws an Error that
/// names `source` (a file) and the first tensor that does not fit, and changes nothing.
void load_state(torch::nn::Module& module, const std::vector<StoredTensor>& state,
                const std::string& source);

}  // namespace lockstep::internal::models
