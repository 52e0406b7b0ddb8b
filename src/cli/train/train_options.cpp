#include "cli/train/train_options.h"

#include "base/files.h"
#include "cli/command.h"

namespace lockstep::internal::cli {

void finish_train_options(const CommandOptions& options, train::TrainConfig& config) {
  // --iterations alone: as many epochs as they need.
  if (options.asked_for("--iterations") && !options.asked_for("--epochs")) config.epochs = 0;
  if (config.command.empty()) config.command = typed_command();
  config.validate();
}

void require_writable_results(const train::TrainConfig& config) {
  if (!config.save.empty()) require_writable(config.save);
  if (!config.json.empty() && config.json != "-") require_writable(config.json);
}

}  // namespace lockstep::internal::cli
