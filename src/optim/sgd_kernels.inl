// The loops of sgd_kernels.h, to be included by one file for each vector unit. Everything is in an unnamed
// namespace, and nothing with inline functions of its own is included: the linker must not take one unit's code for
// another's.
//
// Written so that g++ vectorises them: the arrays lie apart, which it cannot know and is told. Products and sums are
// rounded one by one, never contracted to fused multiply-adds, which plain x86-64 lacks: all units give the same bits.

#include "optim/sgd_kernels.h"

namespace lockstep::optim {

namespace {

template <typename T>
void without_momentum(const SgdStep<T>& step) {
  T* weights = step.weights;
  const T* gradients = step.gradients;
  const T rate = step.rate, decay = step.decay;
#pragma GCC ivdep
  for (std::size_t i = 0; i < step.count; ++i)
    weights[i] -= rate * (gradients[i] + decay * weights[i]);
}

template <bool nesterov, typename T>
void with_momentum(const SgdStep<T>& step) {
  T* weights = step.weights;
  const T* gradients = step.gradients;
  T* velocity = step.velocity;
  const T rate = step.rate, momentum = step.momentum, decay = step.decay;
#pragma GCC ivdep
  for (std::size_t i = 0; i < step.count; ++i) {
    const T slope = gradients[i] + decay * weights[i];
    const T speed = momentum * velocity[i] + slope;
    velocity[i] = speed;
    weights[i] -= rate * (nesterov ? slope + momentum * speed : speed);
  }
}

template <typename T>
void run(const SgdStep<T>& step) {
  if (!step.velocity) return without_momentum(step);
  return step.nesterov ? with_momentum<true>(step) : with_momentum<false>(step);
}

}  // namespace

}  // namespace lockstep::optim
