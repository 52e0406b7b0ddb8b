// The options of lockstep scale.
#pragma once

#include "cli/train/train_options.h"
#include "study/scale.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace lockstep::internal::cli {

struct ScaleCommand {
  study::ScaleJob study;
  std::optional<int>
      hosts;  ///< number of network namespaces; none: workers are processes of this host
  std::string bandwidth = "1gbit";
  std::string latency = "0us";
  std::optional<CommandOptions> options;
};

/// A description of the defaults, for --help.
std::string scale_defaults();

void add_scale_options(CLI::App& command, ScaleCommand& options);

/// Fills in options.study from the rest. Throws UsageError for options that contradict each other,
/// and what finish_train_options throws.
void finish_scale_options(ScaleCommand& options);

}  // namespace lockstep::internal::cli
