#include "sequential_trainer/tensor_batch.h"

#include <lockstep/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lockstep::internal {

namespace {

/// "Float [8, 3, 32, 32]".
std::string describe(const torch::Tensor& tensor) {
  if (!tensor.defined()) return "no tensor";
  return fmt::format("{} [{}]{}{}", torch::toString(tensor.scalar_type()),
                     fmt::join(tensor.sizes().vec(), ", "),
                     tensor.device().is_cpu() ? "" : " on device " + tensor.device().str(),
                     tensor.layout() == torch::kStrided ? "" : ", not dense");
}

bool is(const torch::Tensor& tensor, torch::ScalarType type) {
  return tensor.defined() && tensor.scalar_type() == type && tensor.device().is_cpu() &&
         tensor.layout() == torch::kStrided;
}

void require_shapes(const torch::Tensor& images, const torch::Tensor& labels,
                    const data::ImageShape& shape) {
  const std::array<std::int64_t, 3> wanted{shape.channels, shape.height, shape.width};
  if (!is(images, torch::kFloat32) || images.dim() != 4 ||
      images.sizes().slice(1) != torch::IntArrayRef(wanted))
    throw UsageError(fmt::format(
        "images must be a float32 tensor [N, {}] in main memory, but are {}: convert them with "
        "to(torch::kFloat32), and make the trainer for images of their shape",
        fmt::join(wanted, ", "), describe(images)));
  if (!is(labels, torch::kInt64) || labels.dim() != 1 || labels.size(0) != images.size(0))
    throw UsageError(fmt::format(
        "labels must be an int64 tensor [{}] in main memory, one class per image, but are {}",
        images.size(0), describe(labels)));
}

}  // namespace

void copy_tensors(const torch::Tensor& images, const torch::Tensor& labels,
                  const data::ImageShape& shape, std::int64_t classes, data::Batch& batch) {
  require_shapes(images, labels, shape);
  const torch::Tensor numbers = labels.contiguous();
  const auto* label = numbers.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < numbers.numel(); ++i)
    if (label[i] < 0 || label[i] >= classes)
      throw UsageError(
          fmt::format("label {} is {}: the network has {} outputs, so labels must be from 0 to {}",
                      i, label[i], classes, classes - 1));
  const torch::Tensor plain = images.detach().contiguous();
  const auto* pixels = plain.data_ptr<float>();
  batch.pixels.assign(pixels, pixels + plain.numel());
  batch.labels.assign(label, label + numbers.numel());
}

}  // namespace lockstep::internal
