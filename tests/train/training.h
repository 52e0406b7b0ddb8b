// Training runs on threads, and their results.
#pragma once

#include "models/stored_tensor.h"
#include "train/train_worker.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

namespace lockstep::internal::train {

/// LeNet-5 on the first 100 of the images that ship with Lockstep, 16 at a time: the last batch of
/// an epoch has 4. Momentum and weight decay are on.
TrainConfig small_job();

/// train_worker() without output.
run::Summary train_silently(const Group& group, const TrainConfig& config,
                            const StopAsked& stop_asked = {});

/// Trains on threads and returns rank 0's summary. Throws the error of the first rank that failed.
run::Summary train_on_threads(const TrainConfig& config);

/// "workers4_gather_scatter": the name of a test case for GoogleTest.
std::string name_of_case(const std::tuple<int, std::string>& workers_and_sync);

/// The lines of one kind ("" for all) of the run folder's metrics.jsonl.
std::vector<nlohmann::json> metrics_of(const std::filesystem::path& run_dir,
                                       const std::string& kind);

/// All elements of tensors of float32 or float64, in the order of the tensors' names.
std::vector<double> values_of(const std::vector<models::StoredTensor>& tensors);

/// The elements of all tensors of a safetensors file.
std::vector<double> weights_in(const std::filesystem::path& file);

/// |a − b| / |b|. REQUIRES: both have the same length.
double distance(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace lockstep::internal::train
