#include "optim/sgd.h"

#include "optim/blocks.h"
#include "optim/sgd_kernels.h"

#include <utility>
#include <vector>

namespace lockstep::internal::optim {

namespace {

void run(const SgdKernels& kernels, const SgdStep<float>& step) {
  kernels.float32(step);
}
void run(const SgdKernels& kernels, const SgdStep<double>& step) {
  kernels.float64(step);
}

template <typename T>
class Sgd : public FlatOptimizer<T> {
 public:
  Sgd(Flat<T> flat, const SgdOptions& options)
      : FlatOptimizer<T>(std::move(flat), options.learning_rate),
        options_(options),
        runs_(this->tensors()),
        velocity_(options.momentum > 0 ? this->size() : 0) {}

  std::vector<OptimizerState> state() override {
    if (velocity_.empty()) return {};
    return {{"momentum", velocity_}};
  }

  void step(std::size_t begin, std::size_t count) override {
    this->require_inside(begin, count);
    for_blocks(begin, count, [this](std::size_t from, std::size_t size) {
      runs_.for_each(from, size, [this](std::size_t first, std::size_t elements, bool decayed) {
        run(kernels_, part(first, elements, decayed));
      });
    });
  }

 private:
  SgdStep<T> part(std::size_t begin, std::size_t count, bool decayed) {
    return {.weights = this->weights() + begin,
            .gradients = this->gradients() + begin,
            .velocity = velocity_.empty() ? nullptr : velocity_.data() + begin,
            .count = count,
            .rate = static_cast<T>(this->rate()),
            .momentum = static_cast<T>(options_.momentum),
            .decay = static_cast<T>(decayed ? options_.weight_decay : 0),
            .nesterov = options_.nesterov};
  }

  const SgdKernels& kernels_ = sgd_kernels();
  const SgdOptions options_;
  const DecayRuns runs_;
  std::vector<T> velocity_;
};

}  // namespace

template <typename T>
std::unique_ptr<Optimizer> make_sgd(Flat<T> flat, const SgdOptions& options) {
  require_momentum(options.momentum);
  require_weight_decay(options.weight_decay);
  if (options.nesterov) require_nesterov(options.momentum);
  return std::make_unique<Sgd<T>>(std::move(flat), options);
}

template <typename T>
std::unique_ptr<Optimizer> make_sgd(std::span<T> weights, std::span<const T> gradients,
                                    const SgdOptions& options) {
  return make_sgd<T>(Flat<T>{weights, gradients}, options);
}

template std::unique_ptr<Optimizer> make_sgd(Flat<float>, const SgdOptions&);
template std::unique_ptr<Optimizer> make_sgd(Flat<double>, const SgdOptions&);
template std::unique_ptr<Optimizer> make_sgd(std::span<float>, std::span<const float>,
                                             const SgdOptions&);
template std::unique_ptr<Optimizer> make_sgd(std::span<double>, std::span<const double>,
                                             const SgdOptions&);

}  // namespace lockstep::internal::optim
