// Models by name, and their state as stored tensors.
#pragma once

#include "models/classifier.h"
#include "models/model_names.h"
#include "models/stored_tensor.h"

#include <torch/torch.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::models {

/// A new model with default initialisation (call torch::manual_seed first to repeat it), drawn in
/// float32 whatever its type, so that a seed names the same weights in all types. Throws UsageError
/// that lists the known names. REQUIRES: type is float32 or float64.
std::shared_ptr<Classifier> make_model(std::string_view name, DataType type = DataType::float32);

/// Makes the floating-point parameters and buffers be of `type`, as module.to(dtype) does in
/// Python; libtorch's own Module::to would turn batch norm's counters into floats, too.
void convert(torch::nn::Module& module, DataType type);

/// Copies of what the module learns, of what it keeps beside it (batch norm's statistics), and of
/// both. In PyTorch's plain contiguous layout, whatever the layout in memory.
std::vector<StoredTensor> parameters_of(const torch::nn::Module& module);
std::vector<StoredTensor> buffers_of(const torch::nn::Module& module);
std::vector<StoredTensor> state_of(const torch::nn::Module& module);

/// The module's buffers where they lie. REQUIRES: they are contiguous.
std::vector<ArrayView> buffer_views(torch::nn::Module& module);

/// Copies `state` into the module's parameters and buffers, in place: whatever shares their memory
/// sees the new values. Names must be the module's, no more and no fewer, and shapes equal; F32 and
/// F64 convert into each other (F64 rounds to the nearest F32), other types must be equal.
/// Otherwise throws an Error that names `source` (a file) and the first tensor that does not fit,
/// and changes nothing.
void load_state(torch::nn::Module& module, const std::vector<StoredTensor>& state,
                const std::string& source);

}  // namespace lockstep::models
