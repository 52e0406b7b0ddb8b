// Steps that run small_map_kernels.h: passes of a convolution on a small map as products of
// matrices. Each is on its own; the others may be oneDNN's.
#pragma once

#include "engine/onednn/builder.h"
#include "engine/onednn/small_map_kernels.h"

#include <optional>

namespace lockstep::engine::onednn {

/// A convolution whose operands lie like this, if our kernels can do it: 3×3 with stride 1 and
/// padding 1, on maps of 2×2 or 4×4, channels in blocks of 16 (oneDNN has them so with AVX-512).
std::optional<SmallMapShape> small_map_shape(const Window& window, const dnnl::memory::desc& input,
                                             const dnnl::memory::desc& weights,
                                             const dnnl::memory::desc& output);

/// The layer gives names and parameters.
void add_small_map_forward(Builder& builder, const Layer& layer, const SmallMapShape& shape,
                           const Operand& input, const Operand& output);
void add_small_map_backward_data(Builder& builder, const Layer& layer, const SmallMapShape& shape,
                                 const Operand& gradient, const Operand& input_gradient);
void add_small_map_backward_weights(Builder& builder, const Layer& layer,
                                    const SmallMapShape& shape, const Operand& input,
                                    const Operand& gradient);

}  // namespace lockstep::engine::onednn
