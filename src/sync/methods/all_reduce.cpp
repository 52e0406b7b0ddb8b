#include "sync/methods/all_reduce.h"

namespace lockstep::internal::sync {

void AllReduce::finish() {
  for (std::size_t parameter = 0; parameter < gradients_.parameters().size(); ++parameter)
    group_.all_reduce(gradients_.of(parameter), op_, algorithm_);
}

}  // namespace lockstep::internal::sync
