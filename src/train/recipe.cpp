#include "train/recipe.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace lockstep::train {

namespace {

template <typename T>
void require(bool sense, std::string_view option, const T& value, std::string_view range) {
  if (!sense) throw UsageError(fmt::format("{} is {}: it must be {}", option, value, range));
}

void require_limit(double value, std::string_view option) {
  require(value >= 0 && !std::isinf(value), option, value, "a number from 0 up; 0 is for none");
}

}  // namespace

void Recipe::validate() const {
  optim::has_momentum(optimizer);
  require(beta1 >= 0 && beta1 < 1, "--beta1", beta1, "from 0 to below 1");
  require(beta2 >= 0 && beta2 < 1, "--beta2", beta2, "from 0 to below 1");
  require(epsilon > 0 && !std::isinf(epsilon), "--epsilon", epsilon, "a number above 0");
  require(trust > 0 && !std::isinf(trust), "--trust", trust, "a number above 0");
  const optim::Shape shape = optim::parse_shape(schedule);
  require(warmup >= 0 && !std::isinf(warmup), "--warmup", warmup, "a number of epochs from 0 up");
  if (warmup > 0 && shape.name == "one-cycle")
    throw UsageError("--schedule one-cycle warms up by itself: leave out --warmup");
  require(lr_batch > 0, "--lr-batch", lr_batch, "1 or more");
  scale(1);
  require_limit(clip, "--clip");
  require_limit(clip_value, "--clip-value");
  require(label_smoothing >= 0 && label_smoothing < 1, "--label-smoothing", label_smoothing,
          "from 0 to below 1");
  require(accumulate >= 1 && accumulate <= 65536, "--accumulate", accumulate, "from 1 to 65536");
}

std::map<std::string, std::string> Recipe::identity() const {
  auto text = [](const auto& value) { return fmt::format("{}", value); };
  auto state = [](bool on) { return std::string(on ? "on" : "off"); };
  return {{"--optimizer", optimizer},
          {"--beta1", text(beta1)},
          {"--beta2", text(beta2)},
          {"--epsilon", text(epsilon)},
          {"--trust", text(trust)},
          {"--no-decay-bn-bias", state(no_decay_bn_bias)},
          {"--schedule", schedule},
          {"--warmup", text(warmup)},
          {"--lr-scale", lr_scale},
          {"--lr-batch", text(lr_batch)},
          {"--clip", text(clip)},
          {"--clip-value", text(clip_value)},
          {"--label-smoothing", text(label_smoothing)},
          {"--zero-gamma", state(zero_gamma)},
          {"--accumulate", text(accumulate)}};
}

void add_to_json(const Recipe& recipe, nlohmann::json& config) {
  config.update({{"optimizer", recipe.optimizer},
                 {"beta1", recipe.beta1},
                 {"beta2", recipe.beta2},
                 {"epsilon", recipe.epsilon},
                 {"trust", recipe.trust},
                 {"no_decay_bn_bias", recipe.no_decay_bn_bias},
                 {"schedule", recipe.schedule},
                 {"warmup", recipe.warmup},
                 {"lr_scale", recipe.lr_scale},
                 {"lr_batch", recipe.lr_batch},
                 {"clip", recipe.clip},
                 {"clip_value", recipe.clip_value},
                 {"label_smoothing", recipe.label_smoothing},
                 {"zero_gamma", recipe.zero_gamma},
                 {"accumulate", recipe.accumulate}});
}

}  // namespace lockstep::train
