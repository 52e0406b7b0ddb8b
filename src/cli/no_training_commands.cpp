// A build without torch has no commands that train.
#include "cli/command.h"

namespace lockstep::internal::cli {

void add_training_commands(CLI::App&, int&) {}

}  // namespace lockstep::internal::cli
