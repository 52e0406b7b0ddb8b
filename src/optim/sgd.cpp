#include "optim/sgd.h"

#include "base/check.h"

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
}

template <typename T>
class Sgd : public Optimizer {
 public:
  Sgd(std::span<T> weights, std::span<const T> gradients, const SgdOptions& options)
      : weights_(weights),
        gradients_(gradients),
        rate_(static_cast<T>(options.learning_rate)),
        momentum_(static_cast<T>(options.momentum)),
        decay_(static_cast<T>(options.weight_decay)),
        velocity_(options.momentum > 0 ? weights.size() : 0) {}

  std::size_t size() const override { return weights_.size(); }

  std::vector<OptimizerState> state() override {
    if (velocity_.empty()) return {};
    return {{"momentum", velocity_}};
  }

  void step(std::size_t begin, std::size_t count) override {
    LOCKSTEP_CHECK(begin + count <= size(), "a step over {} + {} of {}", begin, count, size());
    T* weights = weights_.data() + begin;
    const T* gradients = gradients_.data() + begin;
    if (velocity_.empty()) {
      for (std::size_t i = 0; i < count; ++i)
        weights[i] -= rate_ * (gradients[i] + decay_ * weights[i]);
      return;
    }
    T* velocity = velocity_.data() + begin;
    for (std::size_t i = 0; i < count; ++i) {
      velocity[i] = momentum_ * velocity[i] + (gradients[i] + decay_ * weights[i]);
      weights[i] -= rate_ * velocity[i];
    }
  }

 private:
  std::span<T> weights_;
  std::span<const T> gradients_;
  const T rate_;
  const T momentum_;
  const T decay_;
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
