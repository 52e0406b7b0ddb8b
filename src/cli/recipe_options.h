// The options of train::Recipe.
#pragma once

#include "train/recipe.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace lockstep::cli {

/// Binds them to `recipe`, whose values are the defaults shown by --help.
void add_recipe_options(CLI::App& command, train::Recipe& recipe);

/// Throws UsageError if an option was given that the recipe's optimizer has no use for.
void require_used(const CLI::App& command, const train::Recipe& recipe);

/// The arguments that say the same.
std::vector<std::string> recipe_arguments(const train::Recipe& recipe);

}  // namespace lockstep::cli
