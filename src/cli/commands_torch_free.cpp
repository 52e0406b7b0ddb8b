// The commands of a build without torch: those that need no network to train.
#include "cli/command.h"

namespace lockstep::cli {

void add_commands(CLI::App& app, int& code) {
  add_bench_command(app, code);
  add_launch_command(app, code);
  add_data_command(app, code);
  add_doctor_command(app, code);
  add_report_command(app, code);
  add_dataflow_command(app, code);
}

}  // namespace lockstep::cli
