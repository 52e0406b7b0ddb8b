// Steps that run tile_kernels.h: passes of a convolution as products of matrices. Each is on its
// own; the others may be oneDNN's.
#pragma once

#include "engine/onednn/builder.h"
#include "engine/onednn/tile_kernels.h"

#include <optional>

namespace lockstep::engine::onednn {

/// A convolution whose operands lie like this, if our kernels can do it: 3×3 with stride 1 and
/// padding 1, on maps of 2×2 or with sides that are multiples of 4, channels in full blocks of 16
/// (oneDNN has them so with AVX-512).
std::optional<TileShape> tile_shape(const Window& window, const dnnl::memory::desc& input,
                                    const dnnl::memory::desc& weights,
                                    const dnnl::memory::desc& output);

/// The layer gives names and parameters.
void add_tile_forward(Builder& builder, const Layer& layer, const TileShape& shape,
                      const Operand& input, const Operand& output);
void add_tile_backward_data(Builder& builder, const Layer& layer, const TileShape& shape,
                            const Operand& gradient, const Operand& input_gradient);
void add_tile_backward_weights(Builder& builder, const Layer& layer, const TileShape& shape,
                               const Operand& input, const Operand& gradient);

}  // namespace lockstep::engine::onednn
