// The lockstep command. Only this file and the subcommands print or exit.
#include "base/descriptors.h"
#include "base/version.h"
#include "cli/command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <csignal>

namespace lockstep::internal::cli {

namespace {

/// In the order of --help.
void add_commands(CLI::App& app, int& code) {
  add_training_commands(app, code);
  add_bench_command(app, code);
  add_predict_command(app, code);
  add_launch_command(app, code);
  add_data_command(app, code);
  add_doctor_command(app, code);
  add_report_command(app, code);
  add_watch_command(app, code);
  add_dataflow_command(app, code);
}

}  // namespace

}  // namespace lockstep::internal::cli

int main(int argc, char** argv) {
  using namespace lockstep::internal::cli;
  lockstep::internal::raise_descriptor_limit();  // workers inherit it
  // If SIGCHLD is ignored, the kernel discards the exit status of child processes.
  std::signal(SIGCHLD, SIG_DFL);
  CLI::App app("Distributed data-parallel training for C++.", "lockstep");
  app.set_version_flag("--version", lockstep::internal::version());
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  int code = kSuccess;
  add_commands(app, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const std::vector<std::string> unknown = app.remaining();
    if (app.get_subcommands().empty() && !unknown.empty()) {
      fmt::print(stderr,
                 "lockstep: unknown command '{}': run lockstep --help for a list of commands\n",
                 unknown.front());
      return kBadUsage;
    }
    return app.exit(error) == 0 ? kSuccess : kBadUsage;
  } catch (...) {
    return report_exception("lockstep");
  }
  return code;
}
