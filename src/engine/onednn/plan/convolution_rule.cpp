#include "engine/onednn/plan/convolution_rule.h"

#include <algorithm>

namespace lockstep::internal::engine::onednn {

Methods direct_convolutions(const ConvolutionShape&) {
  return {};
}

Methods convolution_rule(const ConvolutionShape& shape) {
  constexpr std::int64_t kVector = 16;
  Methods methods;
  const bool fits = shape.window.size == Extent{3, 3} && shape.window.stride == Extent{1, 1} &&
                    shape.channels_in % kVector == 0 && shape.channels_out % kVector == 0;
  if (!fits) return methods;
  const std::int64_t smaller = std::min(shape.output[0], shape.output[1]);
  if (smaller >= 4) methods = {Method::winograd, Method::winograd, Method::winograd};
  if (smaller >= 2) methods.backward_weights = Method::winograd;
  if (shape.input != shape.output || shape.input[0] != shape.input[1]) return methods;
  const bool many = std::min(shape.channels_in, shape.channels_out) >= 256;
  const std::int64_t side = shape.input[0];
  if (side == 2 || side == 4 || (side == 8 && many))
    methods = {Method::product, Method::product, Method::product};
  if (side == 8) methods.backward_weights = Method::product;
  return methods;
}

}  // namespace lockstep::internal::engine::onednn
