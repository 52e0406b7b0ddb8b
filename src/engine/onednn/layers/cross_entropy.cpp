#include "engine/onednn/layers/cross_entropy.h"

#include "engine/onednn/layers/layers.h"

#include <algorithm>
#include <cmath>

namespace lockstep::internal::engine::onednn {

Score cross_entropy(const float* scores, std::span<const std::int64_t> labels, std::size_t classes,
                    float* probabilities, double smoothing) {
  Score score{.samples = labels.size()};
  for (std::size_t i = 0; i < labels.size(); ++i, scores += classes, probabilities += classes) {
    const auto label = static_cast<std::size_t>(labels[i]);
    const float* highest = std::max_element(scores, scores + classes);
    double sum = 0;
    double all = 0;  // sum of exponentials, relative to the highest score
    for (std::size_t j = 0; j < classes; ++j) {
      probabilities[j] = std::exp(scores[j] - *highest);
      sum += probabilities[j];
      all += static_cast<double>(scores[j]) - *highest;
    }
    for (std::size_t j = 0; j < classes; ++j)
      probabilities[j] = static_cast<float>(probabilities[j] / sum);
    const double its = static_cast<double>(scores[label]) - *highest;
    score.loss_sum +=
        std::log(sum) - (1 - smoothing) * its - smoothing / static_cast<double>(classes) * all;
    score.correct += highest == scores + label ? 1 : 0;
  }
  return score;
}

void cross_entropy_gradient(const float* probabilities, std::span<const std::int64_t> labels,
                            std::size_t classes, double factor, float* gradient, double smoothing) {
  const auto scale = static_cast<float>(factor / static_cast<double>(labels.size()));
  const double spread = smoothing / static_cast<double>(classes);
  const auto others = static_cast<float>(spread);
  const auto its = static_cast<float>(1 - smoothing + spread);
  for (std::size_t i = 0; i < labels.size(); ++i)
    for (std::size_t j = 0; j < classes; ++j, ++probabilities, ++gradient)
      *gradient =
          scale * (*probabilities - (static_cast<std::size_t>(labels[i]) == j ? its : others));
}

void add_loss(Builder& builder, int scores) {
  const Operand place = builder.value(scores);
  const auto classes = static_cast<std::size_t>(place.layout.dims()[1]);
  const Operand probabilities = builder.buffer(place.layout);
  const double smoothing = builder.options().label_smoothing;
  builder.step("loss forward", {place, probabilities},
               [classes, smoothing](std::span<float* const> operands, Pass& pass) {
                 pass.score =
                     cross_entropy(operands[0], pass.labels, classes, operands[1], smoothing);
               });
  builder.on_backward([=, &builder] {
    const Operand gradient = builder.buffer(place.layout);
    builder.step("loss backward", {probabilities, gradient},
                 [classes, smoothing](std::span<float* const> operands, Pass& pass) {
                   cross_entropy_gradient(operands[0], pass.labels, classes, pass.factor,
                                          operands[1], smoothing);
                 });
    builder.add_gradient(scores, gradient);
  });
}

}  // namespace lockstep::internal::engine::onednn
