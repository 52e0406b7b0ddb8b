// lockstep launch: any program on several workers of this host.
#include "cli/command.h"
#include "launch/job.h"

#include <fmt/format.h>

#include <memory>

namespace lockstep::cli {

namespace {

struct LaunchCommand {
  int workers = 2;
  double grace = 10;
  std::vector<std::string> program;
};

int run_launch(const LaunchCommand& command) {
  const launch::JobResult result = launch::run_program(
      {.workers = command.workers,
       .grace = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * command.grace))},
      command.program);
  if (result.first_failure && result.interrupted_by == 0)
    fmt::print(stderr, "lockstep launch: {}\n", result.first_failure->text());
  return result.code();
}

}  // namespace

void add_launch_command(CLI::App& app, int& code) {
  CLI::App* command =
      app.add_subcommand("launch",
                         "start any program on N workers: lockstep launch --workers 4 -- "
                         "./mine arguments");
  auto options = std::make_shared<LaunchCommand>();
  command->add_option("--workers", options->workers, "number of workers")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--grace", options->grace,
                   "seconds the others may go on after one worker has failed")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("program", options->program, "the program and its arguments, after --")
      ->required();
  command->callback([options, &code] {
    try {
      code = run_launch(*options);
    } catch (...) {
      code = report_exception("lockstep launch");
    }
  });
}

}  // namespace lockstep::cli
