// Common to all commands: registration, exit codes and output of results.
#pragma once

#include "base/table/text_table.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::cli {

/// Exit codes of every command.
constexpr int kSuccess = 0;
constexpr int kFailure = 1;
constexpr int kBadUsage = 2;

/// One line about each command that `lockstep --help` lists without loading the command's
/// libraries.
constexpr const char* kTrainSummary = "train one model with one sync method";
constexpr const char* kCompareSummary = "train the same job with every sync method";
constexpr const char* kScaleSummary =
    "train the same job with more and more workers: time, speed-up, compute, communication and "
    "bandwidth";
constexpr const char* kDoctorSummary =
    "check this machine and build for problems that would slow down or break a job";

/// Each function adds its subcommand to `app`. Running the subcommand sets `code` to the exit code.
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
void add_watch_command(CLI::App& app, int& code);

/// Adds train, compare and scale; nothing in a build without torch.
void add_training_commands(CLI::App& app, int& code);

/// Prints `prefix` and the message of the current exception to standard error, and returns its exit
/// code. REQUIRES: called from a catch block.
int report_exception(const std::string& prefix);

/// Writes `json` to `file`, the value of --json: "-" is standard output, "" writes nothing.
void write_json(const std::string& file, const nlohmann::json& json);

/// Prints a table without its title to standard output, with an empty line before and after it. The
/// row `emphasised`, counted from 0, stands out.
void print_table(const TextTable& table, std::optional<std::size_t> emphasised = {});

/// Whether to use colours and redraw lines: standard output is a terminal, and NO_COLOR is not set.
bool on_terminal();

/// The arguments that this process was started with, its name first.
std::vector<std::string> process_arguments();

/// The command line of this process, quoted for a shell: "lockstep train --lr 0.1".
std::string typed_command();

/// "runs/<kind>-<date>-<time>" in the current folder.
std::string default_run_dir(const std::string& kind);

}  // namespace lockstep::internal::cli
