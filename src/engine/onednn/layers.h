// The layers of a network as steps of a plan. Each function adds a layer that takes the value
// `input` and returns the value that it puts out. Throws UsageError that names a layer whose input
// has not the shape that it needs.
#pragma once

#include "engine/onednn/builder.h"

namespace lockstep::engine::onednn {

int add_convolution(Builder& builder, const Layer& layer, int input);
int add_linear(Builder& builder, const Layer& layer, int input);
int add_batch_norm(Builder& builder, const Layer& layer, int input);
/// Over all ranks of the layer's group, in training.
int add_sync_batch_norm(Builder& builder, const Layer& layer, int input);
int add_pool(Builder& builder, const Layer& layer, int input);
/// Max pools over windows of 2×2 on blocks of channels have kernels of our own.
bool is_max_pool_2x2(const Layer& layer, const dnnl::memory::desc& input);
int add_max_pool_2x2(Builder& builder, const Layer& layer, int input);
int add_elementwise(Builder& builder, const Layer& layer, int input);
int add_addition(Builder& builder, const Layer& layer, int input, int other);

/// The mean cross entropy of the scores, and how many of them are right: in the plan's last steps
/// forward and its first ones backward.
void add_loss(Builder& builder, int scores);

/// The shape of what comes out of a window that moves over maps of [N, C, H, W].
dnnl::memory::dims after_window(const dnnl::memory::dims& input, const Layer& layer,
                                std::int64_t channels);

}  // namespace lockstep::engine::onednn
