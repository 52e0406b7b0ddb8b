// Choices by the shape alone: the same on every machine and in every run.
#pragma once

#include "engine/onednn/plan/convolution_method.h"

namespace lockstep::internal::engine::onednn {

/// Chooses direct for all passes.
Methods direct_convolutions(const ConvolutionShape& shape);

/// Winograd for 3×3 kernels with stride 1 and channels that fill vectors, wherever it was faster on
/// the layers of VGG and ResNet: its tiles have 4×4 outputs, and smaller maps waste most of them,
/// but there direct weight gradients are slower still. Products on maps of 2×2 and 4×4 that keep
/// their size, on 8×8 with 256 or more channels, and always for weight gradients on 8×8.
Methods convolution_rule(const ConvolutionShape& shape);

}  // namespace lockstep::internal::engine::onednn
