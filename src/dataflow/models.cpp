#include "dataflow/models.h"

#include <lockstep/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace lockstep::internal::dataflow {

namespace {

/// A layer with a square map and a square filter.
Layer square(std::string name, Count channels, Count filters, Count size, Count kernel,
             Count stride = 1, Count padding = 0, Count groups = 1) {
  return {.name = std::move(name),
          .channels = channels,
          .filters = filters,
          .height = size,
          .width = size,
          .kernel_height = kernel,
          .kernel_width = kernel,
          .stride = stride,
          .padding = padding,
          .groups = groups};
}

std::vector<Layer> alexnet() {
  return {square("C1", 3, 96, 227, 11, 4), square("C2", 96, 256, 27, 5, 1, 2, 2),
          square("C3", 256, 384, 13, 3, 1, 1), square("C4", 384, 384, 13, 3, 1, 1, 2),
          square("C5", 384, 256, 13, 3, 1, 1, 2)};
}

std::vector<Layer> lenet5() {
  return {square("C1", 1, 6, 32, 5), square("C3", 6, 16, 14, 5), square("C5", 16, 120, 5, 5)};
}

/// Five blocks of convolutions, each on a map of half the size.
std::vector<Layer> vgg(const std::vector<int>& convolutions, Count size) {
  std::vector<Layer> layers;
  Count channels = 3;
  for (std::size_t block = 0; block < convolutions.size(); ++block, size /= 2) {
    const Count filters = std::min<Count>(512, Count{64} << block);
    for (int number = 1; number <= convolutions[block]; ++number) {
      layers.push_back(
          square(fmt::format("{}-{}", block + 1, number), channels, filters, size, 3, 1, 1));
      channels = filters;
    }
  }
  return layers;
}

void add_basic_block(std::vector<Layer>& layers, const std::string& name, Count channels,
                     Count filters, Count size, Count stride) {
  layers.push_back(square(name + ".conv1", channels, filters, size, 3, stride, 1));
  layers.push_back(square(name + ".conv2", filters, filters, size / stride, 3, 1, 1));
  if (stride != 1 || channels != filters)
    layers.push_back(square(name + ".downsample", channels, filters, size, 1, stride));
}

std::vector<Layer> resnet18() {
  std::vector<Layer> layers{square("conv1", 3, 64, 32, 3, 1, 1)};
  Count channels = 64, size = 32;
  for (int stage = 1; stage <= 4; ++stage) {
    const Count filters = Count{32} << stage, stride = stage == 1 ? 1 : 2;
    add_basic_block(layers, fmt::format("layer{}.0", stage), channels, filters, size, stride);
    size /= stride;
    add_basic_block(layers, fmt::format("layer{}.1", stage), filters, filters, size, 1);
    channels = filters;
  }
  return layers;
}

}  // namespace

std::vector<std::string> model_names() {
  return {"alexnet", "vgg16", "lenet5", "vgg11", "resnet18"};
}

std::vector<Layer> model_layers(std::string_view model, Count batch) {
  std::vector<Layer> layers;
  if (model == "alexnet")
    layers = alexnet();
  else if (model == "vgg16")
    layers = vgg({2, 2, 3, 3, 3}, 224);
  else if (model == "lenet5")
    layers = lenet5();
  else if (model == "vgg11")
    layers = vgg({1, 1, 2, 2, 2}, 32);
  else if (model == "resnet18")
    layers = resnet18();
  else
    throw UsageError(
        fmt::format("unknown model '{}': use one of {}", model, fmt::join(model_names(), ", ")));
  for (Layer& layer : layers) layer.batch = batch;
  return layers;
}

}  // namespace lockstep::internal::dataflow
