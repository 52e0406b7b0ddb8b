// lockstep launch: any program on several workers, on this host or on several.
#include <lockstep/error.h>

#include "cli/command.h"
#include "cli/launch/options.h"
#include "cli/output.h"
#include "cli/post_mortem.h"
#include "cli/restarts.h"
#include "launch/environment/token_file.h"
#include "launch/job.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <memory>

namespace lockstep::internal::cli {

namespace {

/// With `log_dir`, writes the post-mortem there, beside the workers' output.
std::string report_of(const launch::JobResult& result, const std::filesystem::path& log_dir) {
  std::string report;
  for (const std::string& warning : result.warnings)
    report += fmt::format("lockstep launch: {}\n", warning);
  if (result.interrupted_by != 0) return report;
  const std::string verdict = leave_post_mortem_of_program(result, "lockstep launch: ", log_dir);
  if (result.failure_elsewhere)
    return report + verdict + fmt::format("lockstep launch: {}\n", result.failure_elsewhere->text);
  if (!result.first_failure) return report;
  report += verdict;
  report += fmt::format("lockstep launch: {}\n", result.first_failure->text());
  if (result.last_lines.empty()) return report;
  report +=
      fmt::format("lockstep launch: the last lines of rank {}:\n", result.first_failure->rank);
  for (const std::string& line : result.last_lines) report += fmt::format("  | {}\n", line);
  return report;
}

int make_token_file(const LaunchCommand& options) {
  if (options.options->count_given() > 1)
    throw UsageError("--new-token only writes a token: leave out all other options");
  launch::write_new_token(options.new_token);
  fmt::print("wrote a new token to {}: copy it to every host of the run, and keep it secret\n",
             options.new_token);
  return kSuccess;
}

int run_launch(LaunchCommand& options) {
  options.options->finish();
  if (!options.new_token.empty()) return make_token_file(options);
  finish_launch_options(options);
  const std::filesystem::path& log_dir = options.job.output.log_dir;
  if (!log_dir.empty()) remove_post_mortem(log_dir);
  options.job.nodes.waiting = [&](const std::string& what) {
    put(stderr, "lockstep launch: node {} waits for {}\n", options.job.nodes.rank, what);
  };
  const auto run = [&](int restart) {
    options.job.nodes.restart = restart;
    launch::JobResult result = launch::run_program(options.job, options.program);
    options.job.nodes.run = result.run;
    return result;
  };
  const auto say = [&](const launch::JobResult& ended, int restart) {
    const std::string text =
        fmt::format("{}lockstep launch: starting all workers again ({} of {})\n",
                    report_of(ended, log_dir), restart, options.restarts);
    if (!log_dir.empty()) keep_post_mortem(log_dir, restart);
    // Restored at once, because workers would inherit it.
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    std::fputs(text.c_str(), stderr);
    std::signal(SIGPIPE, before);
  };
  const launch::JobResult result = run_with_restarts(options.restarts, run, say);
  // The reader of this program's output may be gone; its exit code still counts.
  std::signal(SIGPIPE, SIG_IGN);
  std::fputs(report_of(result, log_dir).c_str(), stderr);
  return result.code();
}

}  // namespace

void add_launch_command(CLI::App& app, int& code) {
  CLI::App* command =
      app.add_subcommand("launch",
                         "start any program on N workers: lockstep launch --workers 4 -- "
                         "./mine arguments");
  auto options = std::make_shared<LaunchCommand>();
  add_launch_options(*command, *options);
  command->callback([options, &code] {
    try {
      code = run_launch(*options);
    } catch (...) {
      code = report_exception("lockstep launch");
    }
  });
}

}  // namespace lockstep::internal::cli
