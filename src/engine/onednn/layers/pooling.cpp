#include "engine/onednn/layers/layers.h"

namespace lockstep::internal::engine::onednn {

using dnnl::memory;

int add_pool(Builder& builder, const Layer& layer, int input) {
  const bool training = builder.options().training;
  const memory::desc layout = builder.value(input).layout;
  const memory::dims shape = after_window(layout.dims(), layer, layout.dims()[1]);
  const auto algorithm = layer.kind == LayerKind::max_pool
                             ? dnnl::algorithm::pooling_max
                             : dnnl::algorithm::pooling_avg_include_padding;
  const auto& [size, stride, padding] = layer.window;
  const memory::dims sizes{size[0], size[1]};
  const memory::dims strides{stride[0], stride[1]};
  const memory::dims left{padding[0], padding[1]};
  // Incomplete windows are dropped: the padding ends with the last complete one.
  memory::dims right;
  for (std::size_t i = 0; i < 2; ++i)
    right.push_back((shape[i + 2] - 1) * stride[i] + size[i] - layout.dims()[i + 2] - padding[i]);
  const dnnl::pooling_forward::primitive_desc forward(
      {training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference, algorithm,
       layout, memory::desc(shape, kFloat, memory::format_tag::any), strides, sizes, left, right},
      builder.attributes(), builder.engine());
  const int output = builder.add_value(builder.buffer(forward.dst_desc()), true,
                                       /*overwritable=*/true);
  std::vector<std::pair<int, Operand>> operands{{DNNL_ARG_SRC, builder.value(input)},
                                                {DNNL_ARG_DST, builder.value(output)}};
  std::vector<std::pair<int, Operand>> choices;  // which value of each window was the maximum
  if (training && forward.workspace_desc().get_size() > 0)
    choices.emplace_back(DNNL_ARG_WORKSPACE, builder.buffer(forward.workspace_desc()));
  operands.insert(operands.end(), choices.begin(), choices.end());
  builder.step(layer.name + " forward", forward, dnnl::pooling_forward(forward),
               std::move(operands));
  if (!builder.wants_gradient(input)) return output;
  builder.on_backward([=, &builder] {
    const dnnl::pooling_backward::primitive_desc backward(
        {algorithm, layout, forward.dst_desc(), strides, sizes, left, right}, builder.attributes(),
        builder.engine(), forward);
    const Operand gradient = builder.buffer(layout);
    std::vector<std::pair<int, Operand>> back{{DNNL_ARG_DIFF_DST, builder.gradient(output)},
                                              {DNNL_ARG_DIFF_SRC, gradient}};
    back.insert(back.end(), choices.begin(), choices.end());
    builder.step(layer.name + " backward", backward, dnnl::pooling_backward(backward),
                 std::move(back));
    builder.add_gradient(input, gradient);
  });
  return output;
}

}  // namespace lockstep::internal::engine::onednn
