#include "cli/train/train_options.h"

#include "base/files.h"
#include "cli/command.h"

namespace lockstep::internal::cli {

void resolve_training_length(const CommandOptions& options, train::TrainConfig& config) {
  if (options.asked_for("--iterations") && !options.asked_for("--epochs")) config.epochs = 0;
}

void finish_train_options(const CommandOptions& options, train::TrainConfig& config) {
  resolve_training_length(options, config);
  if (config.command.empty()) config.command = typed_command();
  config.validate();
}

void require_writable_results(const train::TrainConfig& config) {
  if (!config.save.empty()) require_writable(config.save);
  if (!config.json.empty() && config.json != "-") require_writable(config.json);
}

}  // namespace lockstep::internal::cli
