#include "engine/onednn/layers/layers.h"

namespace lockstep::internal::engine::onednn {

using dnnl::memory;

namespace {

/// Backward of a function whose derivative follows from its result.
Operand add_backward(Builder& builder, const std::string& name, dnnl::algorithm algorithm,
                     int output) {
  const Operand& result = builder.value(output);
  const dnnl::eltwise_forward::primitive_desc hint(
      {dnnl::prop_kind::forward_training, algorithm, result.layout, 0.0f}, builder.attributes(),
      builder.engine());
  const dnnl::eltwise_backward::primitive_desc backward(
      {algorithm, result.layout, result.layout, 0.0f}, builder.attributes(), builder.engine(),
      hint);
  const Operand gradient = builder.buffer(result.layout);
  builder.step(name + " backward", backward, dnnl::eltwise_backward(backward),
               {{DNNL_ARG_DST, result},
                {DNNL_ARG_DIFF_DST, builder.gradient(output)},
                {DNNL_ARG_DIFF_SRC, gradient}});
  return gradient;
}

}  // namespace

int add_elementwise(Builder& builder, const Layer& layer, int input) {
  const auto algorithm = layer.kind == LayerKind::tanh
                             ? dnnl::algorithm::eltwise_tanh_use_dst_for_bwd
                             : dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
  const Operand from = builder.value(input);
  const int output =
      builder.add_value(builder.overwritable(input) ? from : builder.buffer(from.layout), true);
  const dnnl::eltwise_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, algorithm, from.layout, 0.0f}, builder.attributes(),
      builder.engine());
  builder.step(layer.name + " forward", forward, dnnl::eltwise_forward(forward),
               {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, builder.value(output)}});
  if (builder.wants_gradient(input))
    builder.on_backward([=, &builder] {
      builder.add_gradient(input, add_backward(builder, layer.name, algorithm, output));
    });
  return output;
}

int add_addition(Builder& builder, const Layer& layer, int input, int other) {
  const memory::desc layout = builder.value(input).layout;
  const int second = builder.value_as(other, layout, layer.name);
  constexpr auto kRelu = dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops then;
  if (layer.then_relu) then.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
  attributes.set_post_ops(then);
  const dnnl::binary::primitive_desc forward({dnnl::algorithm::binary_add, layout, layout, layout},
                                             attributes, builder.engine());
  const int output = builder.add_value(builder.buffer(layout), true, !layer.then_relu);
  builder.step(layer.name + " forward", forward, dnnl::binary(forward),
               {{DNNL_ARG_SRC_0, builder.value(input)},
                {DNNL_ARG_SRC_1, builder.value(second)},
                {DNNL_ARG_DST, builder.value(output)}});
  builder.on_backward([=, &builder] {
    const Operand gradient = layer.then_relu ? add_backward(builder, layer.name, kRelu, output)
                                             : builder.gradient(output);
    for (int part : {input, second})
      if (builder.wants_gradient(part)) builder.add_gradient(part, gradient);
  });
  return output;
}

}  // namespace lockstep::internal::engine::onednn
