#include "optim/sgd.h"

#include "base/check.h"
#include "optim/sgd_kernels.h"

#include <algorithm>
#include <vector>

namespace lockstep::optim {

namespace {

void require_sense(const SgdOptions& options) {
  auto refuse = [](std::string_view what, double value, std::string_view range) {
    throw UsageError(fmt::format("a {} of {} makes no sense: {}", what, value, range));
  };
  if (!(options.learning_rate >= 0))
    refuse("learning rate", options.learning_rate, "it must be 0 or more");
  if (!(options.momentum >= 0 && options.momentum < 1))
    refuse("momentum", options.momentum, "it must be from 0 to below 1");
  if (!(options.weight_decay >= 0))
    refuse("weight decay", options.weight_decay, "it must be 0 or more");
  if (options.nesterov && options.momentum == 0)
    throw UsageError("Nesterov's step needs a momentum above 0");
}

void run(const SgdKernels& kernels, const SgdStep<float>& step) {
  kernels.float32(step);
}
void run(const SgdKernels& kernels, const SgdStep<double>& step) {
  kernels.float64(step);
}

template <typename T>
class Sgd : public Optimizer {
 public:
  Sgd(std::span<T> weights, std::span<const T> gradients, const SgdOptions& options)
      : weights_(weights),
        gradients_(gradients),
        options_(options),
        velocity_(options.momentum > 0 ? weights.size() : 0) {}

  std::size_t size() const override { return weights_.size(); }

  std::vector<OptimizerState> state() override {
    if (velocity_.empty()) return {};
    return {{"momentum", velocity_}};
  }

  void set_learning_rate(double rate) override {
    SgdOptions changed = options_;
    changed.learning_rate = rate;
    require_sense(changed);
    options_ = changed;
  }

  void step(std::size_t begin, std::size_t count) override {
    LOCKSTEP_CHECK(begin + count <= size(), "a step over {} + {} of {}", begin, count, size());
    const std::size_t blocks = (count + kBlock - 1) / kBlock;
    // Neighbouring blocks go to one thread.
#pragma omp parallel for schedule(static) if (blocks >= kManyBlocks)
    for (std::size_t block = 0; block < blocks; ++block) {
      const std::size_t from = begin + block * kBlock;
      run(kernels_, part(from, std::min(kBlock, begin + count - from)));
    }
  }

 private:
  static constexpr std::size_t kBlock = 1 << 14;
  /// From where on a second thread pays.
  static constexpr std::size_t kManyBlocks = 16;

  SgdStep<T> part(std::size_t begin, std::size_t count) {
    return {.weights = weights_.data() + begin,
            .gradients = gradients_.data() + begin,
            .velocity = velocity_.empty() ? nullptr : velocity_.data() + begin,
            .count = count,
            .rate = static_cast<T>(options_.learning_rate),
            .momentum = static_cast<T>(options_.momentum),
            .decay = static_cast<T>(options_.weight_decay),
            .nesterov = options_.nesterov};
  }

  const SgdKernels& kernels_ = sgd_kernels();
  std::span<T> weights_;
  std::span<const T> gradients_;
  SgdOptions options_;
  std::vector<T> velocity_;
};

}  // namespace

template <typename T>
std::unique_ptr<Optimizer> make_sgd(std::span<T> weights, std::span<const T> gradients,
                                    const SgdOptions& options) {
  require_sense(options);
  LOCKSTEP_CHECK(weights.size() == gradients.size(), "{} weights, {} gradients", weights.size(),
                 gradients.size());
  return std::make_unique<Sgd<T>>(weights, gradients, options);
}

template std::unique_ptr<Optimizer> make_sgd(std::span<float>, std::span<const float>,
                                             const SgdOptions&);
template std::unique_ptr<Optimizer> make_sgd(std::span<double>, std::span<const double>,
                                             const SgdOptions&);

}  // namespace lockstep::optim
