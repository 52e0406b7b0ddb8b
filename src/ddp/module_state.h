// A module's tensors other than gradients: compared between ranks, and copied from rank 0.
#pragma once

#include <lockstep/group.h>

#include <torch/torch.h>

#include <string>
#include <vector>

namespace lockstep::internal::ddp {

/// One line per parameter or buffer: its name, shape, type and device, whether it is trained, and,
/// with `with_strides`, the strides of a trained one if it is not contiguous.
std::vector<std::string> describe_tensors(const torch::nn::Module& module,
                                          bool with_strides = true);

/// One line per parameter: its name, and a digest of its values.
std::vector<std::string> describe_values(const torch::nn::Module& module);

/// Throws UsageError that names the first parameter or buffer that is not a dense tensor in main
/// memory.
void require_dense_in_main_memory(const torch::nn::Module& module);

/// A collective: copies root's tensors to all ranks, in place, several tensors per message.
/// REQUIRES: all ranks have the same shapes and types, dense and in main memory.
void broadcast_tensors(Group& group, const std::vector<torch::Tensor>& tensors, int root = 0);

}  // namespace lockstep::internal::ddp
