// A small model around one convolution, and a batch, for timing.
#pragma once

#include "data/loader.h"
#include "engine/onednn/plan/convolution_method.h"
#include "engine/onednn/plan/parameter_store.h"

namespace lockstep::internal::engine::onednn {

/// The name of the timed layer.
inline const std::string kTrialLayer = "timed";

/// The timed layer, after a convolution from three channels with plain input and the output layout
/// of a real model, and before a matrix product that makes scores.
LayerGraph trial_graph(const ConvolutionShape& shape);

/// Values of ordinary size, since zeros and denormal numbers change the time of arithmetic.
data::Batch trial_batch(const LayerGraph& graph, std::int64_t images);
void fill_for_trial(const ParameterStore& store);

}  // namespace lockstep::internal::engine::onednn
