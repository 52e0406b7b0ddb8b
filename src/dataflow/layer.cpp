#include "dataflow/layer.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace lockstep::internal::dataflow {

namespace {

constexpr Count kLargest = 1 << 20;  // of any size: keeps products of sizes within 64 bits

std::string subject(const Layer& layer) {
  return layer.name.empty() ? "layer" : fmt::format("layer {}", layer.name);
}

void require_sizes(const Layer& layer) {
  const std::pair<std::string_view, Count> sizes[] = {{"batch", layer.batch},
                                                      {"channels", layer.channels},
                                                      {"filters", layer.filters},
                                                      {"height", layer.height},
                                                      {"width", layer.width},
                                                      {"kernel height", layer.kernel_height},
                                                      {"kernel width", layer.kernel_width},
                                                      {"stride", layer.stride},
                                                      {"groups", layer.groups}};
  for (const auto& [name, value] : sizes)
    if (value < 1 || value > kLargest)
      throw UsageError(fmt::format("{}: {} is {}: it must be from 1 to {}", subject(layer), name,
                                   value, kLargest));
  if (layer.padding < 0 || layer.padding > kLargest)
    throw UsageError(fmt::format("{}: padding is {}: it must be from 0 to {}", subject(layer),
                                 layer.padding, kLargest));
}

void require_kernel_within(const Layer& layer) {
  const Count height = layer.height + 2 * layer.padding;
  const Count width = layer.width + 2 * layer.padding;
  if (layer.kernel_height > height || layer.kernel_width > width)
    throw UsageError(fmt::format(
        "{}: a filter of {}×{} does not fit into an input of {}×{} (with padding): use a smaller "
        "filter or more padding",
        subject(layer), layer.kernel_height, layer.kernel_width, height, width));
}

}  // namespace

void require_sound(const Layer& layer) {
  require_sizes(layer);
  require_kernel_within(layer);
  if (layer.channels % layer.groups != 0 || layer.filters % layer.groups != 0)
    throw UsageError(fmt::format("{}: {} groups do not divide {} channels and {} filters evenly",
                                 subject(layer), layer.groups, layer.channels, layer.filters));
  double macs = 1;  // floating point, because integers might overflow
  for (Count size : {layer.batch, layer.filters, layer.out_height(), layer.out_width(),
                     layer.group_channels(), layer.kernel_height, layer.kernel_width})
    macs *= static_cast<double>(size);
  const double inputs = static_cast<double>(layer.batch) * static_cast<double>(layer.channels) *
                        static_cast<double>(layer.height + 2 * layer.padding) *
                        static_cast<double>(layer.width + 2 * layer.padding);
  if (macs > 1e15 || inputs > 1e15)
    throw UsageError(fmt::format("{}: more than 10^15 multiplications or inputs: use smaller sizes",
                                 subject(layer)));
}

}  // namespace lockstep::internal::dataflow
