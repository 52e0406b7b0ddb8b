// The options of lockstep predict.
#pragma once

#include "predict/scaling.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace lockstep::internal::cli {

struct PredictCommand {
  std::set<std::string> given;   ///< options on the command line
  std::vector<std::string> fit;  ///< transports to measure
  std::string run;               ///< folder of a recorded run
  std::string network = "10gbit";
  std::vector<int> workers{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
  std::vector<std::string> methods;
  std::vector<double> bucket_megabytes{1, 4, 10, 25, 50, 100};
  int per_host = 1;
  double worth = 0.5;
  double slow_rank = 1;
  double jitter = 0;
  bool simulate = false;
  std::string topology = "switch";
  int simulate_up_to = 1024;
  double slow_link = 1;
  bool check = false;
  std::string op = "all-reduce";
  std::vector<std::string> sizes{"64K", "1M", "36M"};
  std::string html;
  std::string json;
};

void add_predict_options(CLI::App& command, PredictCommand& options);

/// A network by name, custom, or fitted; see parse_network. Workers of a fitted network use this
/// machine's cores together. Throws UsageError.
struct ChosenNetwork {
  predict::NetworkModel network;
  int cores = 0;
  bool one_host = false;  ///< all ranks share memory
};
ChosenNetwork choose_network(const std::string& text);

/// Throws UsageError for an option that has no effect together with the others.
void require_purpose(const PredictCommand& options);

/// Reads the recorded run. Throws UsageError for invalid options.
predict::ScalingJob scaling_job_of(const PredictCommand& options);

/// The folder of fits; empty if there is no cache folder.
std::filesystem::path fits_folder();

}  // namespace lockstep::internal::cli
