// Prints the progress of a training: a bar on a terminal, plain lines elsewhere.
#pragma once

#include "train/progress.h"

#include <cstdio>
#include <memory>
#include <string_view>

namespace lockstep::internal::cli {

enum class ProgressStyle {
  silent,
  losses,  ///< lines of losses alone
  lines,   ///< losses, the recipe, and the results of each epoch
  bar,
  lines_and_bar
};

std::string_view name_of(ProgressStyle style);
/// Throws UsageError.
ProgressStyle parse_progress_style(std::string_view name);

/// Prints to `out`. Losses come every `log_every` iterations, results after each epoch for every
/// rank.
std::unique_ptr<train::Progress> make_progress(ProgressStyle style, std::size_t log_every,
                                               std::FILE* out = stdout);

}  // namespace lockstep::internal::cli
