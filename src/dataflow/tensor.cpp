#include "dataflow/tensor.h"

#include <lockstep/error.h>

#include "base/random.h"

#include <fmt/format.h>

namespace lockstep::internal::dataflow {

namespace {

void fill_randomly(Tensor& tensor, Random random) {
  for (Value& value : tensor.values) value = static_cast<Value>(random.below(19)) - 9;
}

/// One output value.
Value window(const Tensor& filter, const Tensor& input, Count image, Count f, Count top,
             Count left) {
  Value sum = 0;
  for (Count c = 0; c < filter.channels; ++c)
    for (Count i = 0; i < filter.rows; ++i)
      for (Count s = 0; s < filter.columns; ++s)
        sum += filter.at(f, c, i, s) * input.at(image, c, top + i, left + s);
  return sum;
}

}  // namespace

Tensor::Tensor(Count outer, Count channels, Count rows, Count columns)
    : outer(outer),
      channels(channels),
      rows(rows),
      columns(columns),
      values(static_cast<std::size_t>(outer * channels * rows * columns)) {}

Operands random_operands(const Layer& layer, std::uint64_t seed) {
  require_sound(layer);
  constexpr Count kMost = 1 << 20;
  if (layer.groups != 1)
    throw UsageError("the simulation supports layers of one group only: omit --groups");
  if (layer.macs() > 100 * kMost ||
      layer.batch * layer.channels * layer.height * layer.width > kMost)
    throw UsageError("the layer is too large to be computed cycle by cycle: use smaller sizes");
  Operands operands{
      .filter = {layer.filters, layer.channels, layer.kernel_height, layer.kernel_width},
      .input = {layer.batch, layer.channels, layer.height, layer.width},
      .stride = layer.stride,
      .padding = layer.padding};
  fill_randomly(operands.filter, Random(seed, 1));
  fill_randomly(operands.input, Random(seed, 2));
  return operands;
}

Layer layer_of(const Operands& operands) {
  const Tensor& filter = operands.filter;
  const Tensor& input = operands.input;
  if (filter.channels != input.channels)
    throw UsageError(fmt::format("the filter has {} channels and the input {}: they must agree",
                                 filter.channels, input.channels));
  Layer layer{.name = "simulated",
              .batch = input.outer,
              .channels = input.channels,
              .filters = filter.outer,
              .height = input.rows,
              .width = input.columns,
              .kernel_height = filter.rows,
              .kernel_width = filter.columns,
              .stride = operands.stride,
              .padding = operands.padding};
  require_sound(layer);
  return layer;
}

Tensor padded(const Operands& operands) {
  const Tensor& input = operands.input;
  const Count padding = operands.padding;
  Tensor wide(input.outer, input.channels, input.rows + 2 * padding, input.columns + 2 * padding);
  for (Count n = 0; n < input.outer; ++n)
    for (Count c = 0; c < input.channels; ++c)
      for (Count y = 0; y < input.rows; ++y)
        for (Count x = 0; x < input.columns; ++x)
          wide.at(n, c, y + padding, x + padding) = input.at(n, c, y, x);
  return wide;
}

Tensor plain_convolution(const Operands& operands) {
  const Layer layer = layer_of(operands);
  const Tensor input = padded(operands);
  Tensor output(layer.batch, layer.filters, layer.out_height(), layer.out_width());
  for (Count n = 0; n < output.outer; ++n)
    for (Count f = 0; f < output.channels; ++f)
      for (Count y = 0; y < output.rows; ++y)
        for (Count x = 0; x < output.columns; ++x)
          output.at(n, f, y, x) =
              window(operands.filter, input, n, f, y * layer.stride, x * layer.stride);
  return output;
}

}  // namespace lockstep::internal::dataflow
