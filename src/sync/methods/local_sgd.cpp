#include "sync/methods/local_sgd.h"

namespace lockstep::internal::sync {

void LocalSgd::step(optim::Optimizer& optimizer) {
  optimizer.step(0, optimizer.size());
  if (++steps_ == local_steps_) settle(optimizer);
}

void LocalSgd::settle(optim::Optimizer& optimizer) {
  if (steps_ == 0) return;
  steps_ = 0;
  group_.all_reduce(weights_, ReduceOp::average, algorithm_);
  for (const optim::OptimizerState& state : optimizer.state())
    group_.all_reduce(state.values, ReduceOp::average, algorithm_);
}

}  // namespace lockstep::internal::sync
