#include "cli/train/train_options.h"

#include "base/files.h"
#include "cli/command.h"

namespace lockstep::internal::cli {

run::Options view_options(TrainView& view) {
  constexpr std::string_view group = "Output";
  return {{.name = "--log-every",
           .field = &view.log_every,
           .group = group,
           .help = "print the loss every N iterations"},
          {.name = "--tensorboard",
           .field = &view.tensorboard,
           .group = group,
           .help = "also write event files for TensorBoard into the run folder"},
          {.name = "--json",
           .field = &view.json,
           .group = group,
           .help = "write the result to this file; - for standard output"}};
}

void finish_train_options(const CommandOptions& options, train::TrainConfig& config,
                          const TrainView& view) {
  // --iterations alone: as many epochs as they need.
  if (options.asked_for("--iterations") && !options.asked_for("--epochs")) config.epochs = 0;
  if (config.command.empty()) config.command = typed_command();
  config.validate();
  // Now, not after hours of training.
  if (!config.save.empty()) require_writable(config.save);
  if (!view.json.empty() && view.json != "-") require_writable(view.json);
}

}  // namespace lockstep::internal::cli
