// Which of oneDNN's two ways a convolution takes, by its shape alone: the same on every machine and
// in every run.
#pragma once

#include "engine/onednn/network.h"

#include <oneapi/dnnl/dnnl.hpp>

namespace lockstep::engine::onednn {

/// One for each pass. Where oneDNN has no Winograd for a pass on this processor, it is direct.
struct Algorithms {
  dnnl::algorithm forward = dnnl::algorithm::convolution_direct;
  dnnl::algorithm backward_data = dnnl::algorithm::convolution_direct;
  dnnl::algorithm backward_weights = dnnl::algorithm::convolution_direct;
};

/// Winograd for kernels of 3×3 that move by 1, between channels that fill vectors, wherever it was
/// the faster on VGG's and ResNet's layers: its tiles are of 4×4 outputs, and smaller maps waste
/// most of them; but direct gradients of weights are slower still there.
Algorithms convolution_rule(const Window& window, std::int64_t channels_in,
                            std::int64_t channels_out, const Extent& output);

}  // namespace lockstep::engine::onednn
