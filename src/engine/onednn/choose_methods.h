// From an engine's options to the methods of its convolutions.
#pragma once

#include "engine/onednn/convolution_method.h"
#include "engine/onednn/onednn_engine.h"

#include <oneapi/dnnl/dnnl.hpp>

namespace lockstep::engine::onednn {

/// What `options.convolutions` stands for. With "auto" a layer's methods are the same for all
/// batches: those that are best for the usual one.
ChooseMethods choose_methods(const OnednnEngineOptions& options, const dnnl::engine& engine,
                             const Network& network);

}  // namespace lockstep::engine::onednn
