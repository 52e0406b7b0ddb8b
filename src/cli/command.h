// What all commands share: how they are added, how they end, and how their results are written.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <string>

namespace lockstep::cli {

/// Exit codes of every command.
constexpr int kSuccess = 0;
constexpr int kFailure = 1;
constexpr int kBadUsage = 2;

/// Each adds its subcommand. `code` is set to the exit code when the subcommand has run.
void add_train_command(CLI::App& app, int& code);
void add_compare_command(CLI::App& app, int& code);
void add_scale_command(CLI::App& app, int& code);
void add_bench_command(CLI::App& app, int& code);
void add_launch_command(CLI::App& app, int& code);
void add_data_command(CLI::App& app, int& code);
void add_doctor_command(CLI::App& app, int& code);
void add_report_command(CLI::App& app, int& code);
void add_dataflow_command(CLI::App& app, int& code);
void add_predict_command(CLI::App& app, int& code);

/// Adds all that this build has: without torch, those that train are left out.
void add_commands(CLI::App& app, int& code);

/// Prints what() of the exception under way to standard error, after `prefix`, and returns the exit
/// code that it deserves. REQUIRES: called from a catch block.
int report_exception(const std::string& prefix);

/// Writes `json` to the file that --json named: "-" is standard output, "" is nowhere.
void write_json(const std::string& file, const nlohmann::json& json);

/// Whether to use colours and redraw lines: standard output is a terminal and NO_COLOR is not set.
bool on_terminal();

/// The command that this process was started with, as a shell reads it: "lockstep train --lr 0.1".
std::string typed_command();

/// "runs/<kind>-<date>-<time>" in the current folder.
std::string default_run_dir(const std::string& kind);

}  // namespace lockstep::cli
