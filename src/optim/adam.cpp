#include "optim/adam.h"

#include "optim/blocks.h"
#include "optim/moments.h"

#include <utility>

namespace lockstep::internal::optim {

namespace {

/// The coefficients of one step, and pointers to the first element.
template <typename T>
struct AdamStep {
  T* weights;
  const T* gradients;
  T* first;
  T* second;
  std::size_t count;
  MomentCoefficients<T> numbers;
  T rate;         ///< learning rate, divided by 1 − beta1^t
  T added_decay;  ///< factor of the weight added to the gradient (Adam)
  T kept;         ///< factor of the weight after decoupled decay (AdamW)
};

template <typename T>
void run(const AdamStep<T>& step) {
  const MomentCoefficients<T> numbers = step.numbers;
  T* weights = step.weights;
  T* first = step.first;
  T* second = step.second;
#pragma GCC ivdep
  for (std::size_t i = 0; i < step.count; ++i) {
    const T weight = weights[i] * step.kept;
    const T slope = step.gradients[i] + step.added_decay * weights[i];
    const T mean = numbers.beta1 * first[i] + numbers.rest1 * slope;
    const T square = numbers.beta2 * second[i] + numbers.rest2 * slope * slope;
    first[i] = mean;
    second[i] = square;
    weights[i] = weight - step.rate * mean / (std::sqrt(square) / numbers.root2 + numbers.epsilon);
  }
}

template <typename T>
class Adam : public FlatOptimizer<T> {
 public:
  Adam(Flat<T> flat, const AdamOptions& options)
      : FlatOptimizer<T>(std::move(flat), options.learning_rate),
        options_(options),
        runs_(this->tensors()),
        moments_(this->size()) {}

  std::vector<OptimizerState> state() override { return moments_.state(); }

  void step(std::size_t begin, std::size_t count) override {
    this->require_inside(begin, count);
    const MomentCoefficients<T> numbers(options_.beta1, options_.beta2, options_.epsilon,
                                        this->steps());
    for_blocks(begin, count, [&](std::size_t from, std::size_t size) {
      runs_.for_each(from, size, [&](std::size_t first, std::size_t elements, bool decayed) {
        run(part(numbers, first, elements, decayed ? options_.weight_decay : 0));
      });
    });
  }

 private:
  AdamStep<T> part(const MomentCoefficients<T>& numbers, std::size_t begin, std::size_t count,
                   double decay) {
    return {.weights = this->weights() + begin,
            .gradients = this->gradients() + begin,
            .first = moments_.first.data() + begin,
            .second = moments_.second.data() + begin,
            .count = count,
            .numbers = numbers,
            .rate = static_cast<T>(this->rate() / numbers.correction1),
            .added_decay = static_cast<T>(options_.decoupled ? 0 : decay),
            .kept = static_cast<T>(options_.decoupled ? 1 - this->rate() * decay : 1)};
  }

  const AdamOptions options_;
  const DecayRuns runs_;
  Moments<T> moments_;
};

}  // namespace

template <typename T>
std::unique_ptr<Optimizer> make_adam(Flat<T> flat, const AdamOptions& options) {
  require_betas(options.beta1, options.beta2);
  require_epsilon(options.epsilon);
  require_weight_decay(options.weight_decay);
  return std::make_unique<Adam<T>>(std::move(flat), options);
}

template std::unique_ptr<Optimizer> make_adam(Flat<float>, const AdamOptions&);
template std::unique_ptr<Optimizer> make_adam(Flat<double>, const AdamOptions&);

}  // namespace lockstep::internal::optim
