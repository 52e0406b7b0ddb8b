// Ways to choose that look at the shape alone: the same on every machine and in every run.
#pragma once

#include "engine/onednn/convolution_method.h"

namespace lockstep::engine::onednn {

/// All direct.
Methods direct_convolutions(const ConvolutionShape& shape);

/// Winograd for kernels of 3×3 that move by 1, between channels that fill vectors, wherever it was
/// the faster on VGG's and ResNet's layers: its tiles are of 4×4 outputs, and smaller maps waste
/// most of them; but direct gradients of weights are slower still there. On maps of 2×2 and 4×4
/// that keep their size, products; on 8×8 between 256 channels or more, and there always for the
/// gradients of the weights.
Methods convolution_rule(const ConvolutionShape& shape);

}  // namespace lockstep::engine::onednn
