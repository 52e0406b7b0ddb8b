#include "optim/lars.h"

#include "optim/norm.h"

#include <utility>

namespace lockstep::internal::optim {

namespace {

template <typename T>
struct LarsStep {
  T* weights;
  const T* gradients;
  T* velocity;
  std::size_t count;
  T rate, momentum, decay, ratio;
  bool nesterov;
};

template <typename T>
void run(const LarsStep<T>& step) {
  T* weights = step.weights;
  T* velocity = step.velocity;
#pragma GCC ivdep
  for (std::size_t i = 0; i < step.count; ++i) {
    const T slope = step.ratio * (step.gradients[i] + step.decay * weights[i]);
    const T speed = step.momentum * velocity[i] + slope;
    velocity[i] = speed;
    weights[i] -= step.rate * (step.nesterov ? slope + step.momentum * speed : speed);
  }
}

template <typename T>
class Lars : public FlatOptimizer<T> {
 public:
  Lars(Flat<T> flat, const LarsOptions& options)
      : FlatOptimizer<T>(std::move(flat), options.learning_rate),
        options_(options),
        velocity_(this->size()) {}

  bool elementwise() const override { return false; }
  std::vector<OptimizerState> state() override { return {{"momentum", velocity_}}; }

  void step(std::size_t begin, std::size_t count) override {
    this->for_tensors(begin, count, [this](const TensorRange& tensor) { update(tensor); });
  }

 private:
  double ratio_of(const TensorRange& tensor) const {
    if (!tensor.decayed) return 1;
    const double weights = norm(std::span<const T>(this->weights() + tensor.begin, tensor.count));
    const double slope = norm(std::span<const T>(this->gradients() + tensor.begin, tensor.count));
    if (!(weights > 0) || !(slope > 0)) return 1;
    return options_.trust * weights / (slope + options_.weight_decay * weights);
  }

  void update(const TensorRange& tensor) {
    const double ratio = ratio_of(tensor);
    for_blocks(tensor.begin, tensor.count, [&](std::size_t from, std::size_t size) {
      run(LarsStep<T>{.weights = this->weights() + from,
                      .gradients = this->gradients() + from,
                      .velocity = velocity_.data() + from,
                      .count = size,
                      .rate = static_cast<T>(this->rate()),
                      .momentum = static_cast<T>(options_.momentum),
                      .decay = static_cast<T>(tensor.decayed ? options_.weight_decay : 0),
                      .ratio = static_cast<T>(ratio),
                      .nesterov = options_.nesterov});
    });
  }

  const LarsOptions options_;
  std::vector<T> velocity_;
};

}  // namespace

template <typename T>
std::unique_ptr<Optimizer> make_lars(Flat<T> flat, const LarsOptions& options) {
  require_momentum(options.momentum);
  require_weight_decay(options.weight_decay);
  require_trust(options.trust);
  if (options.nesterov) require_nesterov(options.momentum);
  return std::make_unique<Lars<T>>(std::move(flat), options);
}

template std::unique_ptr<Optimizer> make_lars(Flat<float>, const LarsOptions&);
template std::unique_ptr<Optimizer> make_lars(Flat<double>, const LarsOptions&);

}  // namespace lockstep::internal::optim
