// Steps that run tile_kernels.h: passes of a convolution as matrix products. Each pass is
// independent; the others may use oneDNN.
#pragma once

#include "engine/onednn/kernels/tile_kernels.h"
#include "engine/onednn/plan/builder.h"

#include <optional>

namespace lockstep::internal::engine::onednn {

/// The shape for our kernels, if they support the convolution: 3×3 with stride 1 and padding 1, on
/// maps of 2×2 or with sides that are multiples of 4, channels in full blocks of 16 (oneDNN's
/// layout with AVX-512).
std::optional<TileShape> tile_shape(const Window& window, const dnnl::memory::desc& input,
                                    const dnnl::memory::desc& weights,
                                    const dnnl::memory::desc& output);

/// The layer provides names and parameters.
void add_tile_forward(Builder& builder, const Layer& layer, const TileShape& shape,
                      const Operand& input, const Operand& output);
void add_tile_backward_data(Builder& builder, const Layer& layer, const TileShape& shape,
                            const Operand& gradient, const Operand& input_gradient);
void add_tile_backward_weights(Builder& builder, const Layer& layer, const TileShape& shape,
                               const Operand& input, const Operand& gradient);

}  // namespace lockstep::internal::engine::onednn
