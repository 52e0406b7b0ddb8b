// Methods by measurement, for every convolution of a network.
#pragma once

#include "engine/onednn/choice_cache.h"
#include "engine/onednn/method_names.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <functional>

namespace lockstep::engine::onednn {

/// A network's convolutions in training with batches of this size; `may_differ` by whether another
/// method than direct would make a difference.
struct PlannedConvolution {
  ConvolutionShape shape;
  bool may_differ = false;
};
std::vector<PlannedConvolution> convolutions_of(const dnnl::engine& engine, const Network& network,
                                                std::int64_t batch);

/// Something that the user should know of.
using Notice = std::function<void(const std::string&)>;

/// What is fastest for each convolution on this machine, with the threads that this thread computes
/// with: as the cache says, or else measured now and kept. That it cannot be kept is no error.
LayerMethods measure_methods(const dnnl::engine& engine, const Network& network, std::int64_t batch,
                             ChoiceCache& cache, const Notice& notice = {});

}  // namespace lockstep::engine::onednn
