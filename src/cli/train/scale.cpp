// lockstep scale: the same job over several world sizes and batch sizes.
#include "cli/command.h"
#include "cli/train/scale_bench.h"
#include "cli/train/scale_options.h"
#include "cli/train/study_runs.h"
#include "launch/hosts/network_hosts.h"
#include "study/scale_report.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace lockstep::internal::cli {

namespace {

std::string announcement(const study::PlannedRun& plan, const study::ScaleJob& study) {
  const train::TrainConfig& config = plan.config;
  const bool several = study.methods.size() > 1 && config.workers > 1;
  return fmt::format("{} worker{}, {} each{}", config.workers, config.workers == 1 ? "" : "s",
                     plan.batch, several ? ", " + plan.method : "");
}

void print(const study::Scaling& scaling) {
  print_table(study::run_table(scaling));
  fmt::print("{}\n", to_text(study::learning_table(scaling), on_terminal()));
  fmt::print("{}\n", study::scale_verdict(scaling));
  for (const std::string& note : study::scale_notes(scaling)) fmt::print("{}\n", note);
}

study::Scaling measure(const ScaleCommand& command) {
  const std::size_t total = study::plan_scaling(command.study).size();
  std::optional<launch::NetworkHosts> made;
  if (const auto& asked = command.study.hosts) made.emplace(asked->count, asked->link);
  const launch::NetworkHosts* hosts = made ? &*made : nullptr;
  StudyRuns runs(command.study.job.run_dir, total, study_progress(*command.options), hosts);
  StepBench bench(hosts);
  return study::scale(
      command.study,
      [&](const study::PlannedRun& plan) {
        return runs.run(plan.config, announcement(plan, command.study));
      },
      [&](const study::PlannedRun& plan, const run::Summary& summary) {
        return bench.measure(plan, summary);
      });
}

void run_scale(const ScaleCommand& command) {
  const study::Scaling scaling = measure(command);
  if (command.study.job.json != "-") print(scaling);
  finish_study(command.study.job, study::to_json(scaling));
}

}  // namespace

void add_scale_command(CLI::App& app, int& code) {
  CLI::App* command =
      app.add_subcommand("scale", std::string(kScaleSummary) + ". " + scale_defaults());
  auto options = std::make_shared<ScaleCommand>();
  add_scale_options(*command, *options);
  command->callback([options, &code] {
    try {
      finish_scale_options(*options);
      run_scale(*options);
    } catch (...) {
      code = report_exception("lockstep scale");
    }
  });
}

}  // namespace lockstep::internal::cli
