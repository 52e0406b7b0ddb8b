// lockstep data: fetches data sets, and says what is in them.
#include "cli/data.h"

#include "cli/command.h"

namespace lockstep::cli {

void add_data_command(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("data", "fetch, check and describe data sets");
  command->require_subcommand(1);
  add_data_fetch_command(*command, code);
  add_data_info_command(*command, code);
}

}  // namespace lockstep::cli
