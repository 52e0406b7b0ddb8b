#include "run/summary.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <limits>

namespace lockstep::internal::run {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Distribution, mean, p50, p90)

#define LOCKSTEP_COMMON_RESULTS                                                                \
  compute_share, communication_share, hidden_communication_share, exposed_communication_share, \
      wait_share, data_share, bytes_per_iteration, operations_per_iteration, latency_seconds,  \
      train_loss, train_accuracy, epoch_results, seconds_training, exchanged, weights_sha256,  \
      peak_rss_bytes
#define LOCKSTEP_TEST_RESULTS test_loss, test_accuracy, test_correct, test_images
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TestResults, LOCKSTEP_TEST_RESULTS)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankSummary, LOCKSTEP_COMMON_RESULTS, rank,
                                   seconds_per_iteration)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Summary, LOCKSTEP_COMMON_RESULTS, LOCKSTEP_TEST_RESULTS, method,
                                   sync, algorithm, transport, engine, model, data, workers,
                                   threads, global_batch, shards, epochs, iterations, seconds_total,
                                   seconds_per_epoch, seconds_per_iteration, images_per_second,
                                   bandwidth_mbs, buffers_sha256, stopped, verdict, bottleneck,
                                   ranks)
#undef LOCKSTEP_TEST_RESULTS
#undef LOCKSTEP_COMMON_RESULTS

namespace {

/// The loss of a diverged training is NaN, which JSON writes as null.
void restore_losses(nlohmann::json& part) {
  for (const char* loss : {"train_loss", "test_loss"})
    if (const auto found = part.find(loss); found != part.end() && found->is_null())
      *found = std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::string TestResults::text() const {
  return fmt::format("{}/{} ({:.4g} %)", test_correct, test_images, 100 * test_accuracy);
}

nlohmann::json to_json(const Summary& summary) {
  nlohmann::json json(summary);
  for (std::size_t i = 0; i < summary.ranks.size(); ++i)
    if (const auto& test = summary.ranks[i].test) json["ranks"][i].update(nlohmann::json(*test));
  json["average_train_losses"] = nlohmann::json::array();
  for (const EpochResults& epoch : summary.epoch_results)
    json["average_train_losses"].push_back(epoch.train_loss);
  return json;
}

Summary summary_from_json(nlohmann::json json, const std::string& source) {
  try {
    restore_losses(json);
    for (auto& rank : json.at("ranks")) restore_losses(rank);
    auto summary = json.get<Summary>();
    for (std::size_t i = 0; i < summary.ranks.size(); ++i)
      if (const nlohmann::json& rank = json["ranks"][i]; rank.contains("test_images"))
        summary.ranks[i].test = rank.get<TestResults>();
    return summary;
  } catch (const nlohmann::json::exception& error) {
    throw FileError(
        fmt::format("{}: not a summary that this version can read: {}", source, error.what()));
  }
}

}  // namespace lockstep::internal::run
