// Chooses the methods of a model's convolutions by an engine's options.
#pragma once

#include "engine/onednn/onednn_engine.h"
#include "engine/onednn/plan/convolution_method.h"

#include <oneapi/dnnl/dnnl.hpp>

namespace lockstep::internal::engine::onednn {

/// The chooser for `options.convolutions`. With "auto" a layer has the same methods for all batch
/// sizes: the best for the usual one.
ChooseMethods choose_methods(const OnednnEngineOptions& options, const dnnl::engine& engine,
                             const LayerGraph& graph);

}  // namespace lockstep::internal::engine::onednn
