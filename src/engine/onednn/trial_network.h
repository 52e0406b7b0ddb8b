// What a convolution is timed in: a small network around it, with something to compute on.
#pragma once

#include "data/loader.h"
#include "engine/onednn/convolution_method.h"
#include "engine/onednn/parameter_store.h"

namespace lockstep::engine::onednn {

/// The layer that is timed.
inline const std::string kTrialLayer = "timed";

/// The layer between a convolution from three channels, whose input is as plain as images are and
/// whose output lies as in a real network, and a product that makes scores.
Network trial_network(const ConvolutionShape& shape);

/// Values of ordinary size: with zeros or denormal numbers some arithmetic takes another time.
data::Batch trial_batch(const Network& network, std::int64_t images);
void fill_for_trial(const ParameterStore& store);

}  // namespace lockstep::engine::onednn
