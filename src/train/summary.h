// Summary: what came out of a training run; a run folder keeps it as summary.json.
#pragma once

#include "observe/bottleneck.h"
#include "train/recorder.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::train {

struct Distribution {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
};

/// One rank's part. Shares are of its iterations' time, the first iteration left out.
struct RankSummary {
  int rank = 0;
  double seconds_per_iteration = 0;  ///< mean
  double compute_share = 0;
  double communication_share = 0;
  double hidden_communication_share = 0;
  double exposed_communication_share = 0;
  double wait_share = 0;
  double data_share = 0;
  double bytes_per_iteration = 0;
  double operations_per_iteration = 0;  ///< collectives and messages
  double latency_seconds = 0;           ///< of each, with next to nothing to move
  double train_loss = 0;                ///< of the last epoch, over its samples
  double train_accuracy = 0;
  std::string weights_sha256;
  std::uint64_t peak_rss_bytes = 0;
};

/// The whole run. Shares and bytes are means over the ranks.
struct Summary {
  std::string method;
  std::string sync;
  std::string algorithm;
  std::string transport;
  std::string engine = "torch";
  std::string model;
  std::string data;
  int workers = 1;
  int threads = 1;
  std::size_t global_batch = 0;
  int shards = 1;  ///< as many as workers, unless asked for
  std::size_t epochs = 0;
  std::size_t iterations = 0;
  double seconds_total = 0;
  double seconds_per_epoch = 0;
  Distribution seconds_per_iteration;
  double images_per_second = 0;
  double compute_share = 0;
  double communication_share = 0;
  double hidden_communication_share = 0;
  double exposed_communication_share = 0;
  double wait_share = 0;
  double data_share = 0;
  double bytes_per_iteration = 0;
  double operations_per_iteration = 0;
  double latency_seconds = 0;
  double bandwidth_mbs = 0;  ///< bytes over the time inside collectives
  double train_loss = 0;
  double train_accuracy = 0;
  double test_loss = 0;
  double test_accuracy = 0;
  std::string weights_sha256;
  std::string buffers_sha256;
  std::uint64_t peak_rss_bytes = 0;
  std::string stopped;  ///< why it ended before all that was planned; empty if it did not
  std::string verdict;
  observe::Bottleneck bottleneck;
  std::vector<RankSummary> ranks;
};

nlohmann::json to_json(const Summary& summary);
/// Throws FileError that names `source` if a field is missing or of the wrong type.
Summary summary_from_json(nlohmann::json json, const std::string& source);

/// Fills in the statistics of the ranks' records (rank by rank, in order of iterations): scores
/// from those of the last epoch, all else from `records`. A run that was resumed has records since
/// then only, but may have the whole last epoch, in part of ranks that it no longer has. REQUIRES:
/// `last_epoch` has every rank of `records`.
void summarise(const std::vector<std::vector<Record>>& records,
               const std::vector<std::vector<Record>>& last_epoch, Summary& summary);

}  // namespace lockstep::train
