// The loops of sgd_kernels.h, included by one file for each vector unit. Everything is in an unnamed
// namespace, and no header with inline functions is included: the linker must not replace one unit's
// code by another's.
//
// The loops are written for g++ to vectorise; the pragmas tell it that the arrays do not overlap.
// Products and sums are rounded one by one, never contracted to fused multiply-adds, which plain
// x86-64 lacks: all units give the same bits.

#include "optim/sgd_kernels.h"

namespace lockstep::internal::optim {

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

}  // namespace lockstep::internal::optim
