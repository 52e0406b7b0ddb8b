#include "ddp/module_state.h"

#include <lockstep/error.h>

#include "base/hash/sha256.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <span>

namespace lockstep::internal::ddp {

namespace {

/// Tensors are packed into messages of about this size: large enough that latency is negligible,
/// small enough that the copy is.
constexpr std::size_t kMessageBytes = 4 << 20;

std::string describe(std::string_view kind, const std::string& name, const torch::Tensor& tensor,
                     bool with_strides) {
  const bool dense = tensor.layout() == torch::kStrided;
  std::string text = fmt::format(
      "{} {} [{}] {} {} {}", kind, name, fmt::join(tensor.sizes().vec(), ", "),
      torch::toString(tensor.scalar_type()), tensor.device().str(), dense ? "dense" : "not dense");
  if (!tensor.requires_grad()) return text;
  // Gradients have the strides of parameters, and are averaged in memory order.
  if (with_strides && dense && !tensor.is_contiguous())
    text += fmt::format(" with strides [{}]", fmt::join(tensor.strides().vec(), ", "));
  return text + ", trained";
}

void require_dense_in_main_memory(std::string_view kind, const std::string& name,
                                  const torch::Tensor& tensor) {
  if (tensor.device().is_cpu() && tensor.layout() == torch::kStrided) return;
  throw UsageError(fmt::format(
      "{} '{}' is not a dense tensor in main memory but {} on device {}: move the module there "
      "before it is wrapped",
      kind, name, tensor.layout() == torch::kStrided ? "dense" : "not dense",
      tensor.device().str()));
}

/// One message: contiguous copies of the tensors, one after another.
void broadcast_packed(Group& group, std::span<const torch::Tensor> tensors, int root) {
  std::vector<torch::Tensor> copies;
  std::size_t bytes = 0;
  for (const torch::Tensor& tensor : tensors) {
    copies.push_back(tensor.detach().contiguous());
    bytes += copies.back().nbytes();
  }
  std::vector<std::uint8_t> message(bytes);
  std::size_t at = 0;
  for (const torch::Tensor& copy : copies) {
    if (copy.nbytes() > 0) std::memcpy(message.data() + at, copy.data_ptr(), copy.nbytes());
    at += copy.nbytes();
  }
  group.broadcast(message, root);
  if (group.rank() == root) return;
  at = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    torch::Tensor received = torch::empty_like(copies[i]);
    if (received.nbytes() > 0)
      std::memcpy(received.data_ptr(), message.data() + at, received.nbytes());
    // data() has its own version counter: a retained graph may still use the tensor.
    tensors[i].data().copy_(received);
    at += received.nbytes();
  }
}

}  // namespace

std::vector<std::string> describe_tensors(const torch::nn::Module& module, bool with_strides) {
  std::vector<std::string> lines;
  for (const auto& item : module.named_parameters())
    lines.push_back(describe("parameter", item.key(), item.value(), with_strides));
  for (const auto& item : module.named_buffers())
    lines.push_back(describe("buffer", item.key(), item.value(), with_strides));
  return lines;
}

std::vector<std::string> describe_values(const torch::nn::Module& module) {
  std::vector<std::string> lines;
  for (const auto& item : module.named_parameters()) {
    const torch::Tensor values = item->detach().contiguous();
    Sha256 sha;
    sha.update(values.data_ptr(), values.nbytes());
    lines.push_back(
        fmt::format("parameter {} with digest {}", item.key(), sha.hex().substr(0, 16)));
  }
  return lines;
}

void require_dense_in_main_memory(const torch::nn::Module& module) {
  for (const auto& item : module.named_parameters())
    require_dense_in_main_memory("parameter", item.key(), item.value());
  for (const auto& item : module.named_buffers())
    require_dense_in_main_memory("buffer", item.key(), item.value());
}

void broadcast_tensors(Group& group, const std::vector<torch::Tensor>& tensors, int root) {
  if (group.size() == 1) return;
  torch::NoGradGuard no_grad;
  std::span<const torch::Tensor> left(tensors);
  while (!left.empty()) {
    std::size_t count = 1;
    std::size_t bytes = left[0].nbytes();
    while (count < left.size() && bytes + left[count].nbytes() <= kMessageBytes)
      bytes += left[count++].nbytes();
    broadcast_packed(group, left.first(count), root);
    left = left.subspan(count);
  }
}

}  // namespace lockstep::internal::ddp
