// lockstep predict: estimates scaling to thousands of workers from a one-worker run.
#include <lockstep/error.h>

#include "base/date.h"
#include "base/files.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/predict/check.h"
#include "cli/predict/fit.h"
#include "cli/predict/options.h"
#include "cli/predict/tables.h"
#include "predict/bounds.h"
#include "predict/simulator.h"
#include "report/html.h"
#include "report/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

namespace lockstep::internal::cli {

namespace {

std::vector<double> sizes_of(const PredictCommand& options) {
  std::vector<double> sizes;
  for (const std::string& size : options.sizes)
    sizes.push_back(static_cast<double>(parse_bytes(size)));
  return sizes;
}

void run_fit(const PredictCommand& options) {
  for (const std::string& transport : options.fit) {
    const predict::Fit fit = fit_transport(transport, {});
    print_table(residual_table(fit));
    fmt::print("{}\nmedian error {:.1f} %\n", text_of(fit.network), 100 * fit.median_error());
    if (fits_folder().empty()) continue;
    predict::save_fit(fits_folder(), fit);
    fmt::print("saved in {}: use --network {}\n", fits_folder().string(), transport);
  }
}

void write_page(const std::filesystem::path& file, const predict::Scaling& scaling) {
  nlohmann::json page = predict::to_json(scaling);
  page.update({{"title", fmt::format("{} over {}, predicted", scaling.job.run.model,
                                     scaling.job.network.name)},
               {"command", typed_command()},
               {"version", version()},
               {"made", utc_date()},
               {"notes", notes_of(scaling)}});
  std::vector<TextTable> tables{best_table(scaling), crossing_table(scaling, Crossings::all),
                                iteration_table(scaling)};
  std::erase_if(tables, [](const TextTable& table) { return table.rows.empty(); });
  page["tables"] = report::page_tables(tables);
  write_file(file, report::predict_html_of(page));
}

/// The run's folder by default; the current folder if the run is a file.
std::filesystem::path page_of(const PredictCommand& options) {
  if (!options.html.empty()) return options.html;
  const std::filesystem::path run = options.run;
  return (std::filesystem::is_directory(run) ? run : std::filesystem::path(".")) / "predict.html";
}

/// lockstep-simulate, in the folder of this program.
std::filesystem::path simulating_program() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "lockstep-simulate";
}

void add_simulations(predict::Scaling& scaling, const PredictCommand& options) {
  if (scaling.job.cores > 0)
    throw UsageError(
        "--simulate needs a network between hosts: loopback and fitted transports are one host");
  const predict::SimulatorOptions wanted{.topology = predict::parse_topology(options.topology),
                                         .slow_link = options.slow_link,
                                         .program = simulating_program()};
  predict::Simulator simulator(wanted);
  for (int workers : scaling.job.workers)
    if (workers <= options.simulate_up_to)
      predict::require_room(wanted.topology, predict::world_of(workers, scaling.job.per_host));
  const std::vector<predict::Prediction> by_formula = scaling.predictions;
  for (const predict::Prediction& one : by_formula) {
    if (one.workers == 1 || one.workers > options.simulate_up_to) continue;
    if (options.json != "-" && on_terminal())
      fmt::print(stderr, "simulating {} on {} workers\n", one.plan.name, one.workers);
    if (auto simulated = predict::simulate_prediction(simulator, scaling.job, one))
      scaling.predictions.push_back(*simulated);
  }
}

void run_scaling(const PredictCommand& options) {
  const std::filesystem::path page = page_of(options);
  const predict::ScalingJob job = scaling_job_of(options);
  require_writable(page);
  predict::Scaling scaling = predict::predict_scaling(job);
  if (options.simulate) add_simulations(scaling, options);
  if (options.json != "-") {
    print_table(iteration_table(scaling));
    print_table(best_table(scaling));
    const TextTable crossings = crossing_table(scaling, Crossings::of_the_best);
    if (!crossings.rows.empty()) print_table(crossings);
    fmt::print("{}\n", verdict_of(scaling));
    for (const std::string& note : notes_of(scaling)) fmt::print("{}\n", note);
  }
  write_page(page, scaling);
  if (options.json != "-") fmt::print("page: {}\n", page.string());
  write_json(options.json, predict::to_json(scaling));
}

/// Without a run: predicts collectives.
void run_collectives(const PredictCommand& options) {
  const ChosenNetwork chosen = choose_network(options.network);
  std::string operation = options.op;
  std::replace(operation.begin(), operation.end(), '-', '_');
  const std::set<int> workers(options.workers.begin(), options.workers.end());
  if (workers.empty() || *workers.begin() < 1) throw UsageError("--workers must be 1 or more each");
  std::vector<comm::RecordedWorld> worlds;
  for (int size : workers)
    worlds.push_back(predict::world_of(size, chosen.one_host ? size : options.per_host));
  const auto collective = comm::parse_operation(operation);
  const bool sends = collective != comm::Operation::barrier;
  print_table(collective_table(collective, chosen.network, chosen.cores, worlds,
                               sends ? sizes_of(options) : std::vector<double>{0}));
  fmt::print("{}\n", text_of(chosen.network));
  if (collective == comm::Operation::all_reduce)
    fmt::print("naive: {}\n", predict::naive_misleads());
}

void run_predict(const PredictCommand& options) {
  require_purpose(options);
  if (options.check) return run_check(options);
  run_fit(options);
  if (!options.run.empty()) return run_scaling(options);
  if (options.fit.empty()) run_collectives(options);
}

}  // namespace

void add_predict_command(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand(
      "predict",
      "estimate how a job scales, from a one-worker run: iterations with every sync method on "
      "thousands of workers; without a run, the time of collectives");
  auto options = std::make_shared<PredictCommand>();
  add_predict_options(*command, *options);
  command->callback([options, command, &code] {
    try {
      for (const CLI::Option* option : command->parse_order())
        options->given.insert(option->get_name());
      run_predict(*options);
    } catch (...) {
      code = report_exception("lockstep predict");
    }
  });
}

}  // namespace lockstep::internal::cli
