// The methods to compute a convolution.
#pragma once

#include "engine/onednn/plan/layer_graph.h"

#include <functional>
#include <string>

namespace lockstep::internal::engine::onednn {

enum class Method {
  direct,    ///< by its definition
  winograd,  ///< oneDNN's Winograd: fewer multiplications, somewhat larger rounding errors
  product    ///< our kernels, also with fewer multiplications: see tile_kernels.h
};

/// One method per pass. A pass falls back to direct if this processor or its shape does not support
/// the method.
struct Methods {
  Method forward = Method::direct;
  Method backward_data = Method::direct;
  Method backward_weights = Method::direct;

  bool operator==(const Methods&) const = default;
};

/// Everything that a choice may depend on.
struct ConvolutionShape {
  std::int64_t batch = 1;
  std::int64_t channels_in = 1;
  std::int64_t channels_out = 1;
  Extent input{1, 1};
  Extent output{1, 1};
  Window window = {};
  bool input_gradient = true;  ///< false for the first layer: images need no gradient
  std::string layer = {};      ///< name of the layer
};

using ChooseMethods = std::function<Methods(const ConvolutionShape&)>;

}  // namespace lockstep::internal::engine::onednn
