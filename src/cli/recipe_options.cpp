#include "cli/recipe_options.h"

#include <lockstep/error.h>

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::cli {

namespace {

/// The optimizers that have an option; none for options that are not an optimizer's own.
std::vector<std::string> optimizers_with(const std::string& option) {
  if (option == "--trust") return {"lars"};
  if (option == "--beta1" || option == "--beta2" || option == "--epsilon")
    return {"adam", "adamw", "lamb"};
  return {};
}

bool is_used(const std::string& option, const train::Recipe& recipe) {
  const std::vector<std::string> users = optimizers_with(option);
  return users.empty() || std::find(users.begin(), users.end(), recipe.optimizer) != users.end();
}

}  // namespace

void add_recipe_options(CLI::App& command, train::Recipe& recipe) {
  auto option = [&](const std::string& name, auto& value, const std::string& help) {
    command.add_option(name, value, help)->capture_default_str()->group("Recipe");
  };
  auto flag = [&](const std::string& name, bool& value, const std::string& help) {
    command.add_flag(name, value, help)->group("Recipe");
  };
  option("--optimizer", recipe.optimizer,
         fmt::format("what makes updates of gradients: {}",
                     fmt::join(optim::optimizer_names(), ", ")));
  option("--beta1", recipe.beta1, "of adam, adamw and lamb: what is kept of the mean gradient");
  option("--beta2", recipe.beta2, "of adam, adamw and lamb: what is kept of the mean square");
  option("--epsilon", recipe.epsilon, "of adam, adamw and lamb: added to what divides");
  option("--trust", recipe.trust, "of lars: how much of its norm a tensor changes at a rate of 1");
  flag("--no-decay-bn-bias", recipe.no_decay_bn_bias,
       "no weight decay, and no rate of their own in lars and lamb, for batch norm and biases");
  option("--schedule", recipe.schedule,
         fmt::format("learning rate over time: {}; EVERY, EPOCH and HALF are epochs, the rest "
                     "shares of the full rate",
                     fmt::join(optim::shape_forms(), ", ")));
  option("--warmup", recipe.warmup, "epochs in which the learning rate rises to its full value");
  option("--lr-scale", recipe.lr_scale,
         fmt::format("how --lr grows with --batch: {}", fmt::join(optim::scaling_names(), ", ")));
  option("--lr-batch", recipe.lr_batch, "the batch that --lr is for; with --lr-scale");
  option("--clip", recipe.clip, "the gradients' largest norm, over all parameters; 0 for any");
  option("--clip-value", recipe.clip_value, "a gradient's largest element; 0 for any");
  option("--label-smoothing", recipe.label_smoothing,
         "the share of an image's target that all classes have alike, below 1");
  flag("--zero-gamma", recipe.zero_gamma,
       "the last batch norm of residual blocks starts with weights of 0");
  option("--accumulate", recipe.accumulate,
         "parts that each worker computes its share of a batch in, to need less memory");
}

void require_used(const CLI::App& command, const train::Recipe& recipe) {
  for (const auto& [option, value] : recipe.identity())
    if (command.count(option) > 0 && !is_used(option, recipe))
      throw UsageError(fmt::format("{} is for --optimizer {}: {} has no use for it", option,
                                   enumerate(optimizers_with(option)), recipe.optimizer));
}

std::vector<std::string> recipe_arguments(const train::Recipe& recipe) {
  std::vector<std::string> arguments;
  for (const auto& [option, value] : recipe.identity()) {
    if (value == "off" || !is_used(option, recipe)) continue;
    arguments.push_back(option);
    if (value != "on") arguments.push_back(value);
  }
  return arguments;
}

}  // namespace lockstep::cli
