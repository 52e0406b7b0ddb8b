// How a convolution may be computed, and who decides.
#pragma once

#include "engine/onednn/network.h"

#include <functional>
#include <string>

namespace lockstep::engine::onednn {

enum class Method {
  direct,    ///< by its definition
  winograd,  ///< by Winograd's: fewer multiplications, somewhat larger rounding errors
  product    ///< fewer as well, by kernels of our own: see tile_kernels.h
};

/// One for each pass. Where a pass has no such method on this processor or for its shape,
/// it is direct.
struct Methods {
  Method forward = Method::direct;
  Method backward_data = Method::direct;
  Method backward_weights = Method::direct;

  bool operator==(const Methods&) const = default;
};

/// All that a choice may depend on.
struct ConvolutionShape {
  std::int64_t batch = 1;
  std::int64_t channels_in = 1;
  std::int64_t channels_out = 1;
  Extent input{1, 1};
  Extent output{1, 1};
  Window window = {};
  bool input_gradient = true;  ///< false for images, which need none
  std::string layer = {};      ///< that it is the shape of
};

using ChooseMethods = std::function<Methods(const ConvolutionShape&)>;

}  // namespace lockstep::engine::onednn
