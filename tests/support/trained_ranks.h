// One rank of a training without an engine: flat weights and gradients, a sync method and an
// optimizer, combined as a trainer does. The test fills in the gradients.
#pragma once

#include "optim/sgd.h"
#include "sync/sync_method.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::internal::testing {

inline std::span<float> floats(const ArrayView& view) {
  return {static_cast<float*>(view.data), view.count};
}

class TrainedRank {
 public:
  /// Weight i of the flat array starts as i % 7; gaps too.
  TrainedRank(Group with, const std::vector<sync::Parameter>& parameters, const std::string& sync,
              const optim::SgdOptions& sgd, const sync::MethodOptions& options = {},
              const std::string& algorithm = "auto")
      : group(std::move(with)),
        gradients(group, parameters,
                  sync::Layout(parameters, DataType::float32,
                               {.first_bytes = 1000,
                                .bytes = 4000,
                                .parts = static_cast<std::size_t>(group.size())})),
        memory(group.allocate(gradients.layout().bytes())),
        weights(memory.data(), gradients.layout().size(), DataType::float32),
        method(sync::make_sync_method(sync::parse_method(sync, algorithm), group, gradients,
                                      ReduceOp::average, weights, options)) {
    for (std::size_t i = 0; i < weights.count; ++i) floats(weights)[i] = static_cast<float>(i % 7);
    const std::optional<sync::OwnedSlice> share = method->owned_slice();
    optimizer = optim::make_sgd<float>(floats(share ? share->weights : weights),
                                       floats(share ? share->gradients : gradients.all()), sgd);
    method->adopt_weights();
  }

  /// One step with gradient(parameter, i); the parameters become ready in the order of a backward
  /// pass.
  void step(const std::function<float(std::size_t, std::size_t)>& gradient) {
    for (std::size_t left = gradients.parameters().size(); left > 0; --left) {
      const std::span<float> mine = floats(gradients.of(left - 1));
      for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = gradient(left - 1, i);
      method->ready(left - 1);
    }
    method->finish();
    method->step(*optimizer);
  }

  /// The parameters' weights, without gaps.
  std::vector<float> trained() {
    method->settle(*optimizer);
    std::vector<float> all;
    for (const sync::Slot& slot : gradients.layout().slots()) {
      const std::span<float> part = floats(weights.slice(slot.begin, slot.count));
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  Group group;
  sync::Gradients gradients;
  Memory memory;
  ArrayView weights;
  std::unique_ptr<optim::Optimizer> optimizer;  ///< outlives the method, whose server may use it
  std::unique_ptr<sync::SyncMethod> method;
};

}  // namespace lockstep::internal::testing
