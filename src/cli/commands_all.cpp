// The commands of a build with torch: all of them.
#include "cli/command.h"

namespace lockstep::internal::cli {

void add_commands(CLI::App& app, int& code) {
  add_train_command(app, code);
  add_compare_command(app, code);
  add_scale_command(app, code);
  add_bench_command(app, code);
  add_predict_command(app, code);
  add_launch_command(app, code);
  add_data_command(app, code);
  add_doctor_command(app, code);
  add_report_command(app, code);
  add_dataflow_command(app, code);
}

}  // namespace lockstep::internal::cli
