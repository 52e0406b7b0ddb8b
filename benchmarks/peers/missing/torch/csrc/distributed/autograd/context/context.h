// Debian's libtorch-dev lacks this header, which its c10d/reducer.hpp includes. These are the names
// that reducer.hpp takes from it, and all that it needs: it keeps pointers to a context and leaves
// their use to the library. Searched after all other folders, so that a libtorch's own goes first.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>

namespace torch::distributed::autograd {

class DistAutogradContext {
 public:
  using GradCallback = std::function<bool(torch::Tensor&)>;
};

using ContextPtr = std::shared_ptr<DistAutogradContext>;

}  // namespace torch::distributed::autograd
