#include "engine/onednn/convolution_rule.h"

#include <algorithm>

namespace lockstep::engine::onednn {

Algorithms convolution_rule(const Window& window, std::int64_t channels_in,
                            std::int64_t channels_out, const Extent& output) {
  constexpr std::int64_t kVector = 16;
  constexpr auto kWinograd = dnnl::algorithm::convolution_winograd;
  Algorithms algorithms;
  const bool fits = window.size == Extent{3, 3} && window.stride == Extent{1, 1} &&
                    channels_in % kVector == 0 && channels_out % kVector == 0;
  if (!fits) return algorithms;
  const std::int64_t smaller = std::min(output[0], output[1]);
  if (smaller >= 4) algorithms = {kWinograd, kWinograd, kWinograd};
  if (smaller >= 2) algorithms.backward_weights = kWinograd;
  return algorithms;
}

}  // namespace lockstep::engine::onednn
