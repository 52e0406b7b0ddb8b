// lockstep data: downloads data sets, and describes them.
#include "cli/data/data.h"

#include "cli/command.h"

namespace lockstep::internal::cli {

void add_data_command(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("data", "fetch, check and describe data sets");
  command->require_subcommand(1);
  add_data_fetch_command(*command, code);
  add_data_info_command(*command, code);
}

}  // namespace lockstep::internal::cli
