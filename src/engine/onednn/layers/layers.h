// The layers of a model as steps of a plan. Each function adds a layer with the value `input` and
// returns its output value. Throws UsageError that names a layer whose input has an unsupported
// shape.
#pragma once

#include "engine/onednn/plan/builder.h"

namespace lockstep::internal::engine::onednn {

constexpr auto kFloat = dnnl::memory::data_type::f32;  ///< the type of all values

int add_convolution(Builder& builder, const Layer& layer, int input);
int add_linear(Builder& builder, const Layer& layer, int input);
int add_batch_norm(Builder& builder, const Layer& layer, int input);
/// In training, over all ranks of the layer's group.
int add_sync_batch_norm(Builder& builder, const Layer& layer, int input);
int add_pool(Builder& builder, const Layer& layer, int input);
/// Max pools with 2×2 windows on blocks of channels have our own kernels.
bool is_max_pool_2x2(const Layer& layer, const dnnl::memory::desc& input);
int add_max_pool_2x2(Builder& builder, const Layer& layer, int input);
int add_elementwise(Builder& builder, const Layer& layer, int input);
int add_addition(Builder& builder, const Layer& layer, int input, int other);

/// Adds the mean cross entropy and the number of correct scores: the plan's last forward steps and
/// its first backward steps.
void add_loss(Builder& builder, int scores);

/// The output shape of a window that moves over maps of [N, C, H, W].
dnnl::memory::dims after_window(const dnnl::memory::dims& input, const Layer& layer,
                                std::int64_t channels);

}  // namespace lockstep::internal::engine::onednn
