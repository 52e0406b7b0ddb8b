// Summary: the results of a training run, stored as summary.json in its folder.
#pragma once

#include "observe/bottleneck.h"
#include "run/epochs.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::run {

struct Distribution {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
};

/// The scores of a model on the test images.
struct TestResults {
  double test_loss = 0;  ///< mean
  double test_accuracy = 0;
  std::size_t test_correct = 0;  ///< images classified correctly
  std::size_t test_images = 0;

  /// "1050/10000 (10.5 %)".
  std::string text() const;
};

/// The results that a rank and the whole run have in common; those of the run are means over the
/// ranks. A `…_share` is a fraction of the time of the iterations, 0 to 1. Times and fractions
/// exclude the first iteration.
struct CommonResults {
  double compute_share = 0;
  double communication_share = 0;
  double hidden_communication_share = 0;
  double exposed_communication_share = 0;
  double wait_share = 0;
  double data_share = 0;
  double bytes_per_iteration = 0;
  double operations_per_iteration = 0;  ///< collectives and messages
  double latency_seconds = 0;           ///< of one operation on a nearly empty array
  double train_loss = 0;                ///< mean over the samples of the last epoch
  double train_accuracy = 0;
  std::vector<EpochResults> epoch_results;  ///< of every epoch, also before the run was resumed
  double seconds_training = 0;              ///< of all iterations of these epochs
  std::map<std::string, std::uint64_t> exchanged;  ///< bytes sent, by purpose; the run's are sums
  std::string weights_sha256;
  std::uint64_t peak_rss_bytes = 0;  ///< of the run: the largest of its ranks

  /// Moving gradients while nothing is computed. With compute, waiting and data it adds up to 1.
  double transfer_share() const { return std::max(0.0, exposed_communication_share - wait_share); }
};

struct RankSummary : CommonResults {
  int rank = 0;
  double seconds_per_iteration = 0;  ///< mean
  std::optional<TestResults> test;   ///< of this rank's model on all test images, if it was tested
};

struct Summary : CommonResults, TestResults {
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
  int shards = 1;  ///< the number of workers unless --shards was given
  std::size_t epochs = 0;
  std::size_t iterations = 0;
  double seconds_total = 0;
  double seconds_per_epoch = 0;
  Distribution seconds_per_iteration;
  double images_per_second = 0;  ///< of all iterations except the first
  double bandwidth_mbs = 0;      ///< bytes divided by the time inside collectives
  std::string buffers_sha256;
  std::string stopped;  ///< why the run ended early; empty if it did not
  std::string verdict;
  observe::Bottleneck bottleneck;
  std::vector<RankSummary> ranks;
};

nlohmann::json to_json(const Summary& summary);
/// Throws FileError that names `source` if a field is missing or of the wrong type.
Summary summary_from_json(nlohmann::json json, const std::string& source);

/// Whether `exchanged` lacks bytes: MPI's own collectives do not report theirs.
inline bool lacks_exchanged_bytes(std::string_view transport) {
  return transport.ends_with("mpi");
}

}  // namespace lockstep::internal::run
