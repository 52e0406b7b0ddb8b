// lockstep compare: the same job with every sync method.
#include "study/compare.h"

#include "base/files.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/run_training.h"
#include "cli/table.h"
#include "cli/train_options.h"

#include <fmt/format.h>

#include <memory>

namespace lockstep::cli {

namespace {

struct CompareCommand {
  train::TrainConfig job;
  TrainView view;
  std::vector<std::string> methods = sync::method_names();
};

/// Experiment A of the literature: LeNet-5 on 100 images of MNIST, four workers.
train::TrainConfig default_job() {
  train::TrainConfig job;
  job.workers = 4;
  job.limit = 100;
  job.batch = 16;
  job.epochs = 100;
  return job;
}

std::string percent(double share) {
  return fmt::format("{:.1f}", 100 * share);
}

std::string kilobytes(double bytes) {
  return fmt::format("{:.0f}", bytes / 1000);
}

Table table_of(const study::Comparison& comparison) {
  Table table({"method", "workers", "ms/iteration", "total s", "compute %", "communication %",
               "exposed %", "kB rank 0", "kB others", "train loss", "train %", "test %",
               "weights"});
  for (const auto& [summary, difference] : comparison.runs) {
    const bool alone = &summary == &comparison.runs.front().summary;
    table.add({alone ? "alone" : summary.method, fmt::format("{}", summary.workers),
               fmt::format("{:.3f}", 1000 * summary.seconds_per_iteration.p50),
               fmt::format("{:.2f}", summary.seconds_total), percent(summary.compute_share),
               alone ? "–" : percent(summary.communication_share),
               alone ? "–" : percent(summary.exposed_communication_share),
               kilobytes(summary.ranks.front().bytes_per_iteration),
               kilobytes(summary.ranks.back().bytes_per_iteration),
               fmt::format("{:.4f}", summary.train_loss), percent(summary.train_accuracy),
               percent(summary.test_accuracy),
               difference < study::kSameWeights ? "equal" : fmt::format("{:.0e} off", difference)});
  }
  return table;
}

void print_comparison(const study::Comparison& comparison, const CompareCommand& command) {
  fmt::print("\n{}\n", table_of(comparison).text(on_terminal()));
  const study::ComparedRun* fastest = nullptr;
  for (const auto& run : comparison.runs)
    if (&run != &comparison.runs.front() &&
        (fastest == nullptr || run.summary.seconds_total < fastest->summary.seconds_total))
      fastest = &run;
  if (comparison.all_agree())
    fmt::print(
        "All methods end with the same weights as one worker alone (relative difference below "
        "{:.0e}): they differ in time, not in what they learn.\n",
        study::kSameWeights);
  else
    fmt::print("Not all methods end with the same weights: see the last column.\n");
  if (fastest != nullptr)
    fmt::print("Fastest with {} workers: {}. {}\n", fastest->summary.workers,
               fastest->summary.method, fastest->summary.verdict);
  fmt::print("The runs are recorded in {}\n", command.job.run_dir.string());
}

void run_compare(const CompareCommand& command) {
  const bool json_only = command.view.json == "-";
  const std::size_t total = command.methods.size() + 1;
  std::size_t started = 0;
  const study::Comparison comparison =
      study::compare(command.job, command.methods, [&](const train::TrainConfig& config) {
        ++started;
        if (!json_only) {
          fmt::print("[{}/{}] {} worker{}, {}\n", started, total, config.workers,
                     config.workers == 1 ? "" : "s", started == 1 ? "alone" : config.sync);
          std::fflush(stdout);
        }
        return run_training(
            config, !json_only && on_terminal() ? ProgressStyle::bar : ProgressStyle::silent,
            command.view.log_every);
      });
  const nlohmann::json json = study::to_json(comparison);
  write_file(command.job.run_dir / "summary.json", json.dump(2) + "\n");
  if (!json_only) print_comparison(comparison, command);
  write_json(command.view.json, json);
}

}  // namespace

void add_compare_command(CLI::App& app, int& code) {
  CLI::App* command =
      app.add_subcommand("compare",
                         "train the same job with every sync method; without options "
                         "LeNet-5 on 100 images of MNIST with 4 workers");
  auto options = std::make_shared<CompareCommand>();
  options->job = default_job();
  add_train_options(*command, options->job, options->view);
  command->add_option("--methods", options->methods, "the methods to compare, separated by commas")
      ->delimiter(',')
      ->capture_default_str();
  command->callback([command, options, &code] {
    try {
      if (options->job.run_dir.empty()) options->job.run_dir = default_run_dir("compare");
      finish_train_options(*command, options->job, options->view);
      for (const std::string& method : options->methods)
        sync::parse_method(method, options->job.algorithm);
      run_compare(*options);
    } catch (...) {
      code = report_exception("lockstep compare");
    }
  });
}

}  // namespace lockstep::cli
