// The options of lockstep launch: what they are called, and which go together.
#pragma once

#include "cli/command_options.h"
#include "launch/job.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::cli {

struct LaunchCommand {
  launch::JobOptions job{.workers = 2, .pin = true};
  double grace = 10;                ///< seconds
  double rendezvous_timeout = 300;  ///< seconds
  std::optional<int> master_port;
  std::string token_file;
  std::string new_token;  ///< where to write a new token, instead of starting anything
  int restarts = 0;
  std::string join;  ///< where the run is that these workers join; empty for one of their own
  std::vector<std::string> program;
  std::optional<CommandOptions> options;
};

void add_launch_options(CLI::App& command, LaunchCommand& options);

/// Fills in options.job from the rest, after CommandOptions::finish(). Throws UsageError for
/// options that contradict each other, and for a token that is missing or cannot be used.
void finish_launch_options(LaunchCommand& options);

}  // namespace lockstep::internal::cli
