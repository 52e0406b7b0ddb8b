#include <lockstep/error.h>

#include "engine/onednn/layers/layers.h"

#include <fmt/format.h>

namespace lockstep::internal::engine::onednn {

using dnnl::memory;

namespace {

/// A matrix whose rows have an image's values. Its columns have the order of the input, including
/// blocks of channels, so that maps need not be flattened.
class Linear {
 public:
  Linear(Builder& builder, const Layer& layer, int input)
      : builder_(builder), layer_(layer), input_(input), bias_(plain({layer.outputs})) {
    shape_ = builder.value(input).layout.dims();
    output_ = plain({shape_[0], layer.outputs});
    seen_as_ =
        layer.kind == LayerKind::convolution ? plain({shape_[0], layer.outputs, 1, 1}) : output_;
    memory::dims weights = shape_;
    weights[0] = layer.outputs;
    any_ = memory::desc(weights, kFloat, memory::format_tag::any);
  }

  int add() {
    const auto forward = choose_forward();
    builder_.layout(layer_.weight, forward.weights_desc());
    if (layer_.bias != kNone) builder_.layout(layer_.bias, bias_);
    const Operand weights = builder_.weights_as(layer_, forward.weights_desc(), "forward");
    const Operand result = builder_.buffer(output_);
    const int output = builder_.add_value({result.home, result.number, seen_as_}, true,
                                          /*overwritable=*/true);
    std::vector<std::pair<int, Operand>> operands{{DNNL_ARG_SRC, builder_.value(input_)},
                                                  {DNNL_ARG_WEIGHTS, weights},
                                                  {DNNL_ARG_DST, result}};
    if (layer_.bias != kNone) operands.emplace_back(DNNL_ARG_BIAS, builder_.weights(layer_.bias));
    builder_.step(layer_.name + " forward", forward, dnnl::inner_product_forward(forward),
                  std::move(operands));
    builder_.on_backward([copy = *this, output, forward]() mutable {
      copy.add_backward_weights(output, forward);
      if (copy.builder_.wants_gradient(copy.input_)) copy.add_backward_data(output, forward);
    });
    return output;
  }

 private:
  using Forward = dnnl::inner_product_forward::primitive_desc;

  /// Uses the stored layout of the weights, unless that is slow.
  Forward choose_forward() const {
    if (const auto stored = builder_.decided_layout(layer_.weight))
      if (const Forward found = forward_with(*stored); found && !is_slow(found.impl_info_str()))
        return found;
    return forward_with(any_);
  }

  Forward forward_with(const memory::desc& weights) const {
    using Description = dnnl::inner_product_forward::desc;
    constexpr auto kKind = dnnl::prop_kind::forward_training;
    const memory::desc& input = builder_.value(input_).layout;
    const Description description = layer_.bias == kNone
                                        ? Description(kKind, input, weights, output_)
                                        : Description(kKind, input, weights, bias_, output_);
    return {description, builder_.attributes(), builder_.engine(), /*allow_empty=*/true};
  }

  Operand gradient_of(int output) {
    const Operand gradient = builder_.gradient(output);
    return {gradient.home, gradient.number, output_};
  }

  void add_backward_weights(int output, const Forward& forward) {
    using Pass = dnnl::inner_product_backward_weights;
    const Operand stored = builder_.gradients(layer_.weight);
    const memory::desc& input = builder_.value(input_).layout;
    auto ask = [&](const memory::desc& weights) {
      const Pass::desc description = layer_.bias == kNone
                                         ? Pass::desc(input, weights, output_)
                                         : Pass::desc(input, weights, bias_, output_);
      return Pass::primitive_desc(description, builder_.attributes(), builder_.engine(), forward,
                                  /*allow_empty=*/true);
    };
    Pass::primitive_desc pass = ask(stored.layout);
    if (!pass || is_slow(pass.impl_info_str())) pass = ask(any_);
    const bool in_place = pass.diff_weights_desc() == stored.layout;
    const Operand gradient = in_place ? stored : builder_.buffer(pass.diff_weights_desc());
    std::vector<std::pair<int, Operand>> operands{{DNNL_ARG_SRC, builder_.value(input_)},
                                                  {DNNL_ARG_DIFF_DST, gradient_of(output)},
                                                  {DNNL_ARG_DIFF_WEIGHTS, gradient}};
    if (layer_.bias != kNone)
      operands.emplace_back(DNNL_ARG_DIFF_BIAS, builder_.gradients(layer_.bias));
    builder_.step(layer_.name + " backward to its weights", pass, Pass(pass), std::move(operands),
                  {layer_.bias, in_place ? layer_.weight : kNone});
    if (!in_place)
      builder_.reorder(layer_.name + " reorder of its weights' gradient", gradient, stored,
                       {layer_.weight});
  }

  void add_backward_data(int output, const Forward& forward) {
    using Pass = dnnl::inner_product_backward_data;
    const memory::desc& input = builder_.value(input_).layout;
    auto ask = [&](const memory::desc& layout) {
      return Pass::primitive_desc(Pass::desc(input, layout, output_), builder_.attributes(),
                                  builder_.engine(), forward, /*allow_empty=*/true);
    };
    Pass::primitive_desc pass = ask(builder_.weights(layer_.weight).layout);
    if (!pass || is_slow(pass.impl_info_str())) pass = ask(any_);
    const Operand weights = builder_.weights_as(layer_, pass.weights_desc(), "backward");
    const Operand gradient = builder_.buffer(input);
    builder_.step(layer_.name + " backward to its input", pass, Pass(pass),
                  {{DNNL_ARG_WEIGHTS, weights},
                   {DNNL_ARG_DIFF_DST, gradient_of(output)},
                   {DNNL_ARG_DIFF_SRC, gradient}});
    builder_.add_gradient(input_, gradient);
  }

  Builder& builder_;
  Layer layer_;
  int input_;
  memory::dims shape_;
  memory::desc bias_;
  memory::desc output_;
  memory::desc seen_as_;  ///< layout for the following layers: a convolution's output is a map
  memory::desc any_;
};

}  // namespace

int add_linear(Builder& builder, const Layer& layer, int input) {
  return Linear(builder, layer, input).add();
}

}  // namespace lockstep::internal::engine::onednn
