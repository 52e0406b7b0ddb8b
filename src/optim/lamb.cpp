#include "optim/lamb.h"

#include "optim/moments.h"
#include "optim/norm.h"

#include <utility>

namespace lockstep::internal::optim {

namespace {

template <typename T>
class Lamb : public FlatOptimizer<T> {
 public:
  Lamb(Flat<T> flat, const LambOptions& options)
      : FlatOptimizer<T>(std::move(flat), options.learning_rate),
        options_(options),
        moments_(this->size()) {}

  bool elementwise() const override { return false; }
  std::vector<OptimizerState> state() override { return moments_.state(); }

  void step(std::size_t begin, std::size_t count) override {
    const MomentCoefficients<T> numbers(options_.beta1, options_.beta2, options_.epsilon,
                                        this->steps());
    this->for_tensors(begin, count, [&](const TensorRange& tensor) { update(tensor, numbers); });
  }

 private:
  void update(const TensorRange& tensor, const MomentCoefficients<T>& numbers) {
    follow(tensor, numbers);
    T* weights = this->weights();
    const T* first = moments_.first.data();
    const T* second = moments_.second.data();
    const auto correction = static_cast<T>(numbers.correction1);
    const auto decay = static_cast<T>(tensor.decayed ? options_.weight_decay : 0);
    // Computed twice, for its norm and for the update, because no array holds it.
    auto direction = [=](std::size_t i) {
      return first[i] / correction / (std::sqrt(second[i]) / numbers.root2 + numbers.epsilon) +
             decay * weights[i];
    };
    const auto rate = static_cast<T>(this->rate() * ratio_of(tensor, direction));
    for_blocks(tensor.begin, tensor.count, [&](std::size_t from, std::size_t size) {
#pragma GCC ivdep
      for (std::size_t i = from; i < from + size; ++i) weights[i] -= rate * direction(i);
    });
  }

  /// Updates the moving averages.
  void follow(const TensorRange& tensor, const MomentCoefficients<T>& numbers) {
    const T* gradients = this->gradients();
    T* first = moments_.first.data();
    T* second = moments_.second.data();
    for_blocks(tensor.begin, tensor.count, [&](std::size_t from, std::size_t size) {
#pragma GCC ivdep
      for (std::size_t i = from; i < from + size; ++i) {
        first[i] = numbers.beta1 * first[i] + numbers.rest1 * gradients[i];
        second[i] = numbers.beta2 * second[i] + numbers.rest2 * gradients[i] * gradients[i];
      }
    });
  }

  template <typename Direction>
  double ratio_of(const TensorRange& tensor, Direction direction) const {
    if (!tensor.decayed) return 1;
    const double weights = norm(std::span<const T>(this->weights() + tensor.begin, tensor.count));
    const double length = std::sqrt(sum_of_squares(
        tensor.begin, tensor.count, [&](std::size_t i) { return double{direction(i)}; }));
    return weights > 0 && length > 0 ? weights / length : 1;
  }

  const LambOptions options_;
  Moments<T> moments_;
};

}  // namespace

template <typename T>
std::unique_ptr<Optimizer> make_lamb(Flat<T> flat, const LambOptions& options) {
  require_betas(options.beta1, options.beta2);
  require_epsilon(options.epsilon);
  require_weight_decay(options.weight_decay);
  return std::make_unique<Lamb<T>>(std::move(flat), options);
}

template std::unique_ptr<Optimizer> make_lamb(Flat<float>, const LambOptions&);
template std::unique_ptr<Optimizer> make_lamb(Flat<double>, const LambOptions&);

}  // namespace lockstep::internal::optim
