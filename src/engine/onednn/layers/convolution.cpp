// A convolution asks oneDNN for the best layouts of its three passes. Its weights are stored in the
// layout of the forward pass. Only a direct backward pass to the input needs another layout, and
// gets a copy.
#include <lockstep/error.h>

#include "engine/onednn/layers/layers.h"
#include "engine/onednn/layers/tile_convolution.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::engine::onednn {

using dnnl::memory;

memory::dims after_window(const memory::dims& input, const Layer& layer, std::int64_t channels) {
  memory::dims output{input[0], channels};
  for (std::size_t i = 0; i < 2; ++i) {
    const Window& window = layer.window;
    const std::int64_t room =
        (input.size() == 4 ? input[i + 2] : 0) + 2 * window.padding[i] - window.size[i];
    if (room < 0)
      throw UsageError(fmt::format(
          "layer {} has windows of {}×{}, larger than its input of [{}]: use larger images",
          layer.name, window.size[0], window.size[1], fmt::join(input, ", ")));
    output.push_back(room / window.stride[i] + 1);
  }
  return output;
}

namespace {

memory::desc any(const memory::dims& shape) {
  return {shape, kFloat, memory::format_tag::any};
}

/// Layouts to request.
struct Wish {
  memory::desc input;
  memory::desc weights;
  memory::desc output;
};

/// Products use the operands of direct passes.
dnnl::algorithm algorithm_of(Method method) {
  return method == Method::winograd ? dnnl::algorithm::convolution_winograd
                                    : dnnl::algorithm::convolution_direct;
}

struct Passes {
  dnnl::convolution_forward::primitive_desc forward;
  dnnl::convolution_backward_weights::primitive_desc backward_weights;
  dnnl::convolution_backward_data::primitive_desc backward_data;
};

class Convolution {
 public:
  Convolution(Builder& builder, const Layer& layer, int input)
      : builder_(builder),
        layer_(layer),
        input_(input),
        stride_{layer.window.stride[0], layer.window.stride[1]},
        padding_{layer.window.padding[0], layer.window.padding[1]} {
    const memory::dims shape = builder.value(input).layout.dims();
    const memory::dims output = after_window(shape, layer, layer.outputs);
    bias_ = plain({layer.outputs});
    methods_ = builder.options().methods({.batch = shape[0],
                                          .channels_in = shape[1],
                                          .channels_out = layer.outputs,
                                          .input = {shape[2], shape[3]},
                                          .output = {output[2], output[3]},
                                          .window = layer.window,
                                          .input_gradient = builder.wants_gradient(input),
                                          .layer = layer.name});
    choose(shape, output);
  }

  int add() {
    input_ = builder_.value_as(input_, passes_.forward.src_desc(), layer_.name);
    const memory::desc& stored = builder_.layout(layer_.weight, passes_.forward.weights_desc());
    if (layer_.bias != kNone) builder_.layout(layer_.bias, bias_);
    tiles_ =
        tile_shape(layer_.window, passes_.forward.src_desc(), stored, passes_.forward.dst_desc());
    const int output = builder_.add_value(builder_.buffer(passes_.forward.dst_desc()), true,
                                          /*overwritable=*/true);
    add_forward(output);
    builder_.on_backward([copy = *this, output]() mutable {
      copy.add_backward_weights(output);
      if (copy.builder_.wants_gradient(copy.input_)) copy.add_backward_data(output);
    });
    return output;
  }

 private:
  /// Chooses the first layouts with which no pass is slow; the plain layouts as a last resort.
  void choose(const memory::dims& input, const memory::dims& output) {
    const memory::dims weights{layer_.outputs, input[1], layer_.window.size[0],
                               layer_.window.size[1]};
    const memory::desc as_it_is = builder_.value(input_).layout;
    std::vector<Wish> wishes;
    if (const auto stored = builder_.decided_layout(layer_.weight))
      wishes.push_back({as_it_is, *stored, any(output)});
    wishes.push_back({as_it_is, any(weights), any(output)});
    wishes.push_back({plain(input), plain(weights), plain(output)});
    for (const Wish& wish : wishes) {
      passes_ = ask_for(wish);
      if (are_good()) return;
    }
  }

  Passes ask_for(const Wish& wish) const {
    Passes passes;
    passes.forward = forward(wish, methods_.forward);
    if (!passes.forward) passes.forward = forward(wish, Method::direct);
    if (!passes.forward || !builder_.options().training) return passes;
    passes.backward_weights = backward_weights(passes.forward, methods_.backward_weights);
    if (!passes.backward_weights)
      passes.backward_weights = backward_weights(passes.forward, Method::direct);
    if (!builder_.wants_gradient(input_)) return passes;
    passes.backward_data = backward_data(passes.forward, methods_.backward_data);
    if (!passes.backward_data) passes.backward_data = backward_data(passes.forward, Method::direct);
    return passes;
  }

  bool are_good() const {
    auto good = [](const auto& pass) { return pass && !is_slow(pass.impl_info_str()); };
    if (!good(passes_.forward)) return false;
    // Channels that do not fill a vector would be padded, and all later layers would compute the
    // padding.
    const memory::desc output = passes_.forward.dst_desc();
    if (!std::equal(output.data.dims, output.data.dims + 4, output.data.padded_dims)) return false;
    if (!builder_.options().training) return true;
    return good(passes_.backward_weights) &&
           (!builder_.wants_gradient(input_) || good(passes_.backward_data));
  }

  dnnl::convolution_forward::primitive_desc forward(const Wish& wish, Method method) const {
    using Description = dnnl::convolution_forward::desc;
    constexpr auto kKind = dnnl::prop_kind::forward_training;  // others store weights differently
    const Description description =
        layer_.bias == kNone ? Description(kKind, algorithm_of(method), wish.input, wish.weights,
                                           wish.output, stride_, padding_, padding_)
                             : Description(kKind, algorithm_of(method), wish.input, wish.weights,
                                           bias_, wish.output, stride_, padding_, padding_);
    return {description, builder_.attributes(), builder_.engine(), /*allow_empty=*/true};
  }

  dnnl::convolution_backward_weights::primitive_desc backward_weights(
      const dnnl::convolution_forward::primitive_desc& forward, Method method) const {
    using Description = dnnl::convolution_backward_weights::desc;
    const memory::desc input = forward.src_desc();
    const memory::desc output = forward.dst_desc();
    const memory::desc stored =
        builder_.decided_layout(layer_.weight).value_or(forward.weights_desc());
    const Description description =
        layer_.bias == kNone
            ? Description(algorithm_of(method), input, stored, output, stride_, padding_, padding_)
            : Description(algorithm_of(method), input, stored, bias_, output, stride_, padding_,
                          padding_);
    return {description, builder_.attributes(), builder_.engine(), forward, /*allow_empty=*/true};
  }

  dnnl::convolution_backward_data::primitive_desc backward_data(
      const dnnl::convolution_forward::primitive_desc& forward, Method method) const {
    const dnnl::convolution_backward_data::desc description(
        algorithm_of(method), forward.src_desc(), any(forward.weights_desc().dims()),
        forward.dst_desc(), stride_, padding_, padding_);
    return {description, builder_.attributes(), builder_.engine(), forward, /*allow_empty=*/true};
  }

  bool is_product(Method method) const { return tiles_ && method == Method::product; }

  void add_forward(int output) {
    if (is_product(methods_.forward))
      return add_tile_forward(builder_, layer_, *tiles_, builder_.value(input_),
                              builder_.value(output));
    const Operand weights = builder_.weights_as(layer_, passes_.forward.weights_desc(), "forward");
    std::vector<std::pair<int, Operand>> operands{{DNNL_ARG_SRC, builder_.value(input_)},
                                                  {DNNL_ARG_WEIGHTS, weights},
                                                  {DNNL_ARG_DST, builder_.value(output)}};
    if (layer_.bias != kNone) operands.emplace_back(DNNL_ARG_BIAS, builder_.weights(layer_.bias));
    builder_.step(layer_.name + " forward", passes_.forward,
                  dnnl::convolution_forward(passes_.forward), std::move(operands));
  }

  void add_backward_weights(int output) {
    if (is_product(methods_.backward_weights))
      return add_tile_backward_weights(builder_, layer_, *tiles_, builder_.value(input_),
                                       builder_.gradient(output));
    std::vector<std::pair<int, Operand>> operands{
        {DNNL_ARG_SRC, builder_.value(input_)},
        {DNNL_ARG_DIFF_DST, builder_.gradient(output)},
        {DNNL_ARG_DIFF_WEIGHTS, builder_.gradients(layer_.weight)}};
    if (layer_.bias != kNone)
      operands.emplace_back(DNNL_ARG_DIFF_BIAS, builder_.gradients(layer_.bias));
    builder_.step(layer_.name + " backward to its weights", passes_.backward_weights,
                  dnnl::convolution_backward_weights(passes_.backward_weights), std::move(operands),
                  {layer_.bias, layer_.weight});
  }

  void add_backward_data(int output) {
    const Operand gradient = builder_.buffer(passes_.backward_data.diff_src_desc());
    if (is_product(methods_.backward_data)) {
      add_tile_backward_data(builder_, layer_, *tiles_, builder_.gradient(output), gradient);
    } else {
      const Operand weights =
          builder_.weights_as(layer_, passes_.backward_data.weights_desc(), "backward");
      builder_.step(layer_.name + " backward to its input", passes_.backward_data,
                    dnnl::convolution_backward_data(passes_.backward_data),
                    {{DNNL_ARG_WEIGHTS, weights},
                     {DNNL_ARG_DIFF_DST, builder_.gradient(output)},
                     {DNNL_ARG_DIFF_SRC, gradient}});
    }
    builder_.add_gradient(input_, gradient);
  }

  Builder& builder_;
  Layer layer_;
  int input_;
  memory::dims stride_;
  memory::dims padding_;
  memory::desc bias_;
  Methods methods_;
  Passes passes_;
  std::optional<TileShape> tiles_;  ///< if passes can be products
};

}  // namespace

int add_convolution(Builder& builder, const Layer& layer, int input) {
  return Convolution(builder, layer, input).add();
}

}  // namespace lockstep::internal::engine::onednn
