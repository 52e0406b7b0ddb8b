#include <lockstep/error.h>

#include "engine/onednn/layers/layers.h"

#include <fmt/format.h>

namespace lockstep::internal::engine::onednn {

using dnnl::memory;

namespace {

using Forward = dnnl::batch_normalization_forward;
using Backward = dnnl::batch_normalization_backward;

/// Updates the running statistics as torch does: the mean and the unbiased variance.
Kernel keep_statistics(const RunningStatistics& statistics, std::int64_t channels, double samples) {
  return [=](std::span<float* const> operands, Pass&) {
    const auto momentum = static_cast<float>(statistics.momentum);
    const auto unbiased = static_cast<float>(samples / (samples - 1));
    for (std::int64_t i = 0; i < channels; ++i) {
      statistics.mean[i] = (1 - momentum) * statistics.mean[i] + momentum * operands[0][i];
      statistics.variance[i] =
          (1 - momentum) * statistics.variance[i] + momentum * (operands[1][i] * unbiased);
    }
    ++*statistics.batches;
  };
}

Kernel copy_statistics(const RunningStatistics& statistics, std::int64_t channels) {
  return [=](std::span<float* const> operands, Pass&) {
    std::copy_n(statistics.mean, channels, operands[0]);
    std::copy_n(statistics.variance, channels, operands[1]);
  };
}

dnnl::normalization_flags flags_of(const Layer& layer, bool training) {
  using dnnl::normalization_flags;
  auto flags = normalization_flags::use_scale | normalization_flags::use_shift;
  if (layer.then_relu) flags |= normalization_flags::fuse_norm_relu;
  if (!training) flags |= normalization_flags::use_global_stats;
  return flags;
}

/// The mean and variance of each channel by which the layer normalises.
struct BatchStatistics {
  Operand mean;
  Operand variance;
};

BatchStatistics add_forward(Builder& builder, const Layer& layer,
                            const Forward::primitive_desc& forward, int input,
                            const Operand& output, const Operand& choices) {
  const bool training = builder.options().training;
  const memory::dims shape = output.layout.dims();
  const BatchStatistics batch{builder.buffer(forward.mean_desc()),
                              builder.buffer(forward.variance_desc())};
  if (!training)
    builder.step(layer.name + " running statistics", {batch.mean, batch.variance},
                 copy_statistics(layer.statistics, shape[1]));
  std::vector<std::pair<int, Operand>> operands{{DNNL_ARG_SRC, builder.value(input)},
                                                {DNNL_ARG_SCALE, builder.weights(layer.weight)},
                                                {DNNL_ARG_SHIFT, builder.weights(layer.bias)},
                                                {DNNL_ARG_MEAN, batch.mean},
                                                {DNNL_ARG_VARIANCE, batch.variance},
                                                {DNNL_ARG_DST, output}};
  if (choices.layout.get_size() > 0) operands.emplace_back(DNNL_ARG_WORKSPACE, choices);
  builder.step(layer.name + " forward", forward, Forward(forward), std::move(operands));
  if (training)
    builder.step(
        layer.name + " running statistics", {batch.mean, batch.variance},
        keep_statistics(layer.statistics, shape[1],
                        static_cast<double>(shape[0]) * static_cast<double>(shape[2] * shape[3])));
  return batch;
}

void add_backward(Builder& builder, const Layer& layer, const Forward::primitive_desc& forward,
                  int input, int output, const Operand& choices, const BatchStatistics& batch) {
  const memory::desc& layout = builder.value(input).layout;
  const Backward::primitive_desc backward(
      {dnnl::prop_kind::backward, layout, layout, static_cast<float>(layer.statistics.epsilon),
       flags_of(layer, true)},
      builder.attributes(), builder.engine(), forward);
  const Operand gradient = builder.buffer(layout);
  std::vector<std::pair<int, Operand>> operands{
      {DNNL_ARG_SRC, builder.value(input)},
      {DNNL_ARG_SCALE, builder.weights(layer.weight)},
      {DNNL_ARG_SHIFT, builder.weights(layer.bias)},  // its value is not used
      {DNNL_ARG_MEAN, batch.mean},
      {DNNL_ARG_VARIANCE, batch.variance},
      {DNNL_ARG_DIFF_DST, builder.gradient(output)},
      {DNNL_ARG_DIFF_SRC, gradient},
      {DNNL_ARG_DIFF_SCALE, builder.gradients(layer.weight)},
      {DNNL_ARG_DIFF_SHIFT, builder.gradients(layer.bias)}};
  if (choices.layout.get_size() > 0) operands.emplace_back(DNNL_ARG_WORKSPACE, choices);
  builder.step(layer.name + " backward", backward, Backward(backward), std::move(operands),
               {layer.bias, layer.weight});
  if (builder.wants_gradient(input)) builder.add_gradient(input, gradient);
}

}  // namespace

int add_batch_norm(Builder& builder, const Layer& layer, int input) {
  const bool training = builder.options().training;
  const memory::desc layout = builder.value(input).layout;
  const memory::dims shape = layout.dims();
  if (training && shape[0] * shape[2] * shape[3] == 1)
    throw UsageError(fmt::format(
        "layer {} has one value per channel, which cannot be normalised: train with larger batches",
        layer.name));
  // Evaluation uses the running statistics instead of those of the batch.
  const Forward::primitive_desc forward(
      {training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference, layout,
       static_cast<float>(layer.statistics.epsilon), flags_of(layer, training)},
      builder.attributes(), builder.engine());
  for (int parameter : {layer.weight, layer.bias}) builder.layout(parameter, plain({shape[1]}));
  const int output = builder.add_value(builder.buffer(layout), true, /*overwritable=*/true);
  const Operand choices = builder.buffer(forward.workspace_desc());
  const BatchStatistics batch =
      add_forward(builder, layer, forward, input, builder.value(output), choices);
  if (training)
    builder.on_backward([&builder, layer, forward, input, output, choices, batch] {
      add_backward(builder, layer, forward, input, output, choices, batch);
    });
  return output;
}

}  // namespace lockstep::internal::engine::onednn
