#include "cli/predict/check.h"

#include "base/text.h"
#include "cli/command.h"
#include "cli/predict/fit.h"
#include "cli/predict/tables.h"
#include "cli/train/study_runs.h"
#include "launch/hosts/machine.h"
#include "observe/statistics.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace lockstep::internal::cli {

namespace {

constexpr std::size_t kBatch = 64;  // per worker
constexpr std::size_t kIterations = 8;
const std::vector<int> kWorlds{2, 4};
const std::vector<std::string> kMethods{"all-reduce", "ring", "ddp"};

/// A transport to check, with its fitted model.
struct Place {
  std::string name;
  std::string transport;
  predict::Fit model;
  bool one_host = false;
  double core_fraction = 0;
  const launch::NetworkHosts* hosts = nullptr;
};

struct Checked {
  std::vector<std::string> cells;
  double predicted = 0;
  double measured = 0;
  double error() const { return std::abs(predicted - measured) / measured; }
};

double median_error(const std::vector<Checked>& all) {
  std::vector<double> errors;
  for (const Checked& one : all) errors.push_back(one.error());
  return observe::percentile(errors, 0.5);
}

/// The last columns are predicted, measured and error.
void print_checked(const std::string& what, std::vector<TableColumn> columns,
                   const std::vector<Checked>& all, double unit) {
  TextTable table{.title = what, .columns = std::move(columns)};
  for (const Checked& one : all) {
    table.rows.push_back(one.cells);
    for (double seconds : {one.predicted, one.measured})
      table.rows.back().push_back(fmt::format("{:.1f}", seconds * unit));
    table.rows.back().push_back(percent_cell(one.error()));
  }
  print_table(table);
  fmt::print("{}: median error {:.1f} %\n", what, 100 * median_error(all));
}

const std::vector<std::size_t> kCheckedSizes{128 << 10, 2 << 20, 16 << 20};

bool is_checked(const predict::Measurement& one) {
  return std::find(kCheckedSizes.begin(), kCheckedSizes.end(),
                   static_cast<std::size_t>(one.collective.bytes)) != kCheckedSizes.end();
}

/// Measures the sizes to fit to and the sizes to check in turn, because a machine's speed varies.
std::vector<predict::Measurement> measure_all(const std::string& transport) {
  FitPlan plan{.workers = kWorlds, .rounds = 5};
  plan.sizes.insert(plan.sizes.end(), kCheckedSizes.begin(), kCheckedSizes.end());
  return measure_transport(transport, plan);
}

predict::Fit fit_to_the_others(const std::string& transport,
                               std::vector<predict::Measurement> measurements) {
  std::erase_if(measurements, is_checked);
  predict::Fit fit = fit_to(transport, measurements);
  fmt::print("{}; fitted to a median error of {:.1f} %\n", text_of(fit.network),
             100 * fit.median_error());
  std::fflush(stdout);
  return fit;
}

void check_collectives(const Place& place, const std::vector<predict::Measurement>& measurements,
                       std::vector<Checked>& all) {
  for (const predict::Measurement& one : measurements)
    if (is_checked(one))
      all.push_back({{place.name, std::string(name_of(one.collective.algorithm)),
                      std::to_string(one.world.size),
                      format_bytes(static_cast<std::uint64_t>(one.collective.bytes))},
                     place.model.predicted(one),
                     one.seconds});
}

train::TrainConfig training(const std::filesystem::path& folder, const std::string& name,
                            int workers) {
  train::TrainConfig config;
  config.model = "vgg11";
  config.data = "synthetic:3x32x32,train=4096,test=16";
  config.workers = workers;
  config.threads = 1;
  config.batch = kBatch * static_cast<std::size_t>(workers);
  config.epochs = 0;
  config.iterations = kIterations;
  config.run_dir = folder / name;
  config.command = typed_command();
  return config;
}

/// The trainings of a check, in one folder.
class Trainings {
 public:
  explicit Trainings(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void check(const Place& place, std::vector<Checked>& all) {
    for (int workers : kWorlds) {
      const std::string name = fmt::format("{}-{}", place.name, workers);
      record(name);
      for (const std::string& method : kMethods) {
        train::TrainConfig config = training(folder_, fmt::format("{}-{}", name, method), workers);
        config.sync = method;
        config.transport = place.transport;
        const double measured = run(config, place.hosts);
        all.push_back({{place.name, method, std::to_string(workers)},
                       predict::predict(job_for(place), method, workers).seconds(),
                       measured});
      }
      if (workers == kWorlds.front())  // repeated, to show the spread of measurements
        all.push_back({{place.name, "alone", "1"},
                       recorded_.seconds(),
                       run(training(folder_, name + "-again", 1), nullptr)});
    }
  }

 private:
  /// Records one worker, the input of the model, and the slowdown of two workers that run side
  /// by side without communication. Repeated for each world; see measure_all.
  void record(const std::string& name) {
    const std::string alone = name + "-alone";
    run(training(folder_, alone, 1), nullptr);
    recorded_ = predict::read_recorded_run(folder_ / alone);
    train::TrainConfig apart = training(folder_, name + "-apart", 2);
    apart.sync = "local-sgd";
    apart.local_steps = 1000;
    crowding_ = run(apart, nullptr) / recorded_.seconds();
    fmt::print(
        "{}: one worker takes {:.1f} ms per iteration, two side by side {:.2f} times as long\n",
        name, 1e3 * recorded_.seconds(), crowding_);
    std::fflush(stdout);
  }

  double run(const train::TrainConfig& config, const launch::NetworkHosts* hosts) {
    return run_training(config, ProgressStyle::silent, stdout, OnInterrupt::end, hosts)
        .seconds_per_iteration.p50;
  }

  predict::ScalingJob job_for(const Place& place) const {
    return {.run = recorded_,
            .network = place.model.network,
            .workers = kWorlds,
            .methods = kMethods,
            .bucket_megabytes = {25},
            .per_host = place.one_host ? kWorlds.back() : 1,
            .cores = place.model.cores,
            .crowding = std::max(1.0, crowding_),
            .core_fraction = place.core_fraction};
  }

  const std::filesystem::path folder_;
  predict::RecordedRun recorded_;
  double crowding_ = 1;
};

}  // namespace

void run_check(const PredictCommand& options) {
  const std::filesystem::path folder =
      options.run.empty() ? default_run_dir("predict") : options.run;
  Trainings trainings(folder);
  std::vector<Checked> collectives, iterations;
  auto check = [&](const Place& place, const std::vector<predict::Measurement>& measurements) {
    check_collectives(place, measurements, collectives);
    trainings.check(place, iterations);
  };
  const auto over_shm = measure_all("shm");
  check({"shm", "shm", fit_to_the_others("shm", over_shm), true}, over_shm);
  const auto over_gloo = measure_all("gloo");
  const predict::Fit gloo = fit_to_the_others("gloo", over_gloo);
  check({"gloo", "gloo", gloo}, over_gloo);
  if (::geteuid() == 0) {
    const launch::NetworkHosts hosts(kWorlds.back(), {});
    predict::Fit wires{predict::parse_network("1gbit"), launch::find_cores().usable(), {}};
    // The cost of the kernel's copies is known from loopback.
    const double core_fraction = gloo.network.per_byte / wires.network.per_byte;
    check({"1gbit", "gloo", wires, false, core_fraction, &hosts},
          measure_transport("gloo", {.workers = kWorlds, .sizes = kCheckedSizes}, &hosts));
  } else {
    fmt::print("not root: skipping 1 Gbit/s links between network namespaces\n");
  }
  print_checked(
      "collectives of 64 KiB and more",
      {"place", "algorithm", "workers", "bytes", "predicted us", "measured us", "error %"},
      collectives, 1e6);
  print_checked("iterations of VGG-11",
                {"place", "method", "workers", "predicted ms", "measured ms", "error %"},
                iterations, 1e3);
  fmt::print("The runs are recorded in {}\n", folder.string());
}

}  // namespace lockstep::internal::cli
