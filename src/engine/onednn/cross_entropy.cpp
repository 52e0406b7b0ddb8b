#include "engine/onednn/cross_entropy.h"

#include "engine/onednn/layers.h"

#include <algorithm>
#include <cmath>

namespace lockstep::engine::onednn {

Score cross_entropy(const float* scores, std::span<const std::int64_t> labels, std::size_t classes,
                    float* probabilities) {
  Score score{.samples = labels.size()};
  for (std::size_t i = 0; i < labels.size(); ++i, scores += classes, probabilities += classes) {
    const auto label = static_cast<std::size_t>(labels[i]);
    const float* highest = std::max_element(scores, scores + classes);
    double sum = 0;
    for (std::size_t j = 0; j < classes; ++j) {
      probabilities[j] = std::exp(scores[j] - *highest);
      sum += probabilities[j];
    }
    for (std::size_t j = 0; j < classes; ++j)
      probabilities[j] = static_cast<float>(probabilities[j] / sum);
    score.loss_sum += std::log(sum) - (static_cast<double>(scores[label]) - *highest);
    score.correct += highest == scores + label ? 1 : 0;
  }
  return score;
}

void cross_entropy_gradient(const float* probabilities, std::span<const std::int64_t> labels,
                            std::size_t classes, double factor, float* gradient) {
  const auto scale = static_cast<float>(factor / static_cast<double>(labels.size()));
  for (std::size_t i = 0; i < labels.size(); ++i)
    for (std::size_t j = 0; j < classes; ++j, ++probabilities, ++gradient)
      *gradient =
          scale * (*probabilities - (static_cast<std::size_t>(labels[i]) == j ? 1.0f : 0.0f));
}

void add_loss(Builder& builder, int scores) {
  const Operand place = builder.value(scores);
  const auto classes = static_cast<std::size_t>(place.layout.dims()[1]);
  const Operand probabilities = builder.buffer(place.layout);
  builder.step("loss forward", {place, probabilities},
               [classes](std::span<float* const> operands, Pass& pass) {
                 pass.score = cross_entropy(operands[0], pass.labels, classes, operands[1]);
               });
  builder.on_backward([=, &builder] {
    const Operand gradient = builder.buffer(place.layout);
    builder.step("loss backward", {probabilities, gradient},
                 [classes](std::span<float* const> operands, Pass& pass) {
                   cross_entropy_gradient(operands[0], pass.labels, classes, pass.factor,
                                          operands[1]);
                 });
    builder.add_gradient(scores, gradient);
  });
}

}  // namespace lockstep::engine::onednn
