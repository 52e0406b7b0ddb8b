// Measures the best methods for every convolution of a model.
#pragma once

#include "engine/onednn/choice/choice_cache.h"
#include "engine/onednn/choice/method_names.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <functional>

namespace lockstep::internal::engine::onednn {

/// A convolution of a model in training with batches of this size. `may_differ`: whether a method
/// other than direct changes its steps.
struct PlannedConvolution {
  ConvolutionShape shape;
  bool may_differ = false;
};
std::vector<PlannedConvolution> convolutions_of(const dnnl::engine& engine, const LayerGraph& graph,
                                                std::int64_t batch);

/// Called with a text for the user.
using Notice = std::function<void(const std::string&)>;

/// The fastest methods of each convolution on this machine, with this thread's number of threads:
/// from the cache, or measured and saved. An error in saving is only reported to `notice`.
LayerMethods measure_methods(const dnnl::engine& engine, const LayerGraph& graph,
                             std::int64_t batch, ChoiceCache& cache, const Notice& notice = {});

}  // namespace lockstep::internal::engine::onednn
