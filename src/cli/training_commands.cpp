// The commands that train, in the order of `lockstep --help`.
#include "cli/command.h"

namespace lockstep::internal::cli {

void add_training_commands(CLI::App& app, int& code) {
  add_train_command(app, code);
  add_compare_command(app, code);
  add_scale_command(app, code);
}

}  // namespace lockstep::internal::cli
