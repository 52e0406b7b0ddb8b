#include "train/summary_builder.h"

#include <lockstep/error.h>

#include "models/safetensors.h"
#include "sync/sync_method.h"
#include "train/batch_norm_buffers.h"
#include "train/config/mistake.h"
#include "train/summary_statistics.h"

#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <numeric>

namespace lockstep::internal::train {

namespace {

double peak_rss_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

/// All ranks' values one after another on rank 0; nothing elsewhere.
template <typename T>
std::vector<T> gather(Group& group, const std::vector<T>& mine) {
  std::vector<T> all(group.rank() == 0 ? mine.size() * static_cast<std::size_t>(group.size()) : 0);
  group.gather(mine, all);
  return all;
}

run::Summary describe(const Group& group, const FinishedRun& run) {
  const TrainConfig& config = run.config;
  const sync::Method method = config.method();
  run::Summary summary;
  summary.method = method.method;
  summary.sync = sync::parse_method(config.sync, config.algorithm).method;
  summary.algorithm = name_of(method.algorithm);
  summary.transport = group.transport();
  summary.engine = run.replica.engine().name();
  summary.model = config.model;
  summary.data = config.data;
  summary.workers = group.size();
  summary.threads = config.threads_per_worker();
  summary.global_batch = config.batch;
  summary.shards = config.shards > 0 ? config.shards : group.size();
  return summary;
}

void add_length_and_speed(const FinishedRun& run, run::Summary& summary) {
  const std::size_t per_epoch = run.feed.batches_per_epoch();
  summary.epochs = 1 + (run.iterations - 1) / per_epoch;
  summary.iterations = run.iterations;
  summary.seconds_total = run.seconds;
  summary.seconds_per_epoch =
      run.seconds / static_cast<double>(run.steps) * static_cast<double>(per_epoch);
  static_cast<run::TestResults&>(summary) = run.tester.results();
}

double seconds_of(const std::vector<run::EpochResults>& epochs) {
  return std::accumulate(
      epochs.begin(), epochs.end(), 0.0,
      [](double sum, const run::EpochResults& epoch) { return sum + epoch.seconds; });
}

void add_epochs(const run::Epochs& epochs, run::Summary& summary) {
  summary.epoch_results = epochs.of_all();
  summary.seconds_training = seconds_of(summary.epoch_results);
  for (run::RankSummary& rank : summary.ranks) {
    rank.epoch_results = epochs.of_rank(rank.rank);
    rank.seconds_training = seconds_of(rank.epoch_results);
  }
}

/// Every rank's bytes by purpose, gathered on rank 0. A collective.
std::vector<std::uint64_t> gather_bytes(Group& group, const comm::BytesByPurpose& bytes) {
  const std::vector<std::int64_t> all =
      gather(group, std::vector<std::int64_t>(bytes.begin(), bytes.end()));
  return {all.begin(), all.end()};
}

void add_bytes(const std::vector<std::uint64_t>& bytes, run::Summary& summary) {
  const auto& purposes = comm::kPurposes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::string purpose(purposes[i % purposes.size()]);
    summary.ranks[i / purposes.size()].exchanged[purpose] = bytes[i];
    summary.exchanged[purpose] += bytes[i];
  }
}

/// Every rank's test of its own model, gathered on rank 0. A collective.
std::vector<double> gather_scores(Group& group, const engine::Score& score) {
  return gather(group, std::vector<double>{score.loss_sum, static_cast<double>(score.correct),
                                           static_cast<double>(score.samples)});
}

void add_scores(const std::vector<double>& scores, run::Summary& summary) {
  for (std::size_t rank = 0; rank < summary.ranks.size(); ++rank) {
    const double* its = &scores[3 * rank];
    if (its[2] == 0) continue;
    summary.ranks[rank].test = Tester::results_of(
        {its[0], static_cast<std::size_t>(its[1]), static_cast<std::size_t>(its[2])});
  }
}

Circumstances circumstances(const FinishedRun& run, const std::vector<double>& latencies) {
  return {.machines = run.machines,
          .latency = latencies,
          .buckets = run.replica.layout().buckets().size(),
          .gradient_bytes = static_cast<double>(run.replica.layout().bytes()),
          .loader_threads = run.feed.loader_threads(),
          .classes = run.classes,
          .config = run.config};
}

void require_equal_weights(const run::Summary& summary) {
  for (const run::RankSummary& rank : summary.ranks)
    if (rank.weights_sha256 != summary.weights_sha256)
      throw Error(
          fmt::format("the weights of rank {} differ from those of rank 0 after {} iterations of "
                      "{}: the results are wrong. --check-every N finds the first such step. "
                      "Different builds or libraries, or a memory fault on one rank, can cause "
                      "this; otherwise please report it as a bug in Lockstep",
                      rank.rank, summary.iterations, summary.method));
}

}  // namespace

run::Summary build_summary(Group& group, const FinishedRun& run) {
  const std::vector<std::uint64_t> bytes = gather_bytes(group, run.replica.bytes_sent());
  const std::vector<double> scores = gather_scores(group, run.tester.own_score());
  const std::string weights = models::weights_sha256(run.replica.engine().parameter_state());
  const std::vector<std::uint8_t> hashes =
      gather(group, std::vector<std::uint8_t>(weights.begin(), weights.end()));
  const std::vector<double> peaks = gather(group, std::vector<double>{peak_rss_bytes()});
  const std::vector<double> latencies = gather(group, std::vector<double>{run.latency});
  if (group.rank() != 0) return {};

  run::Summary summary = describe(group, run);
  add_length_and_speed(run, summary);
  summary.weights_sha256 = weights;
  summary.buffers_sha256 = models::weights_sha256(run.replica.engine().buffer_state());
  summarise(run.records, run.epoch_records, summary);
  add_epochs(run.epochs, summary);
  add_bytes(bytes, summary);
  add_scores(scores, summary);
  add_verdict(run.records, circumstances(run, latencies), summary);
  for (std::size_t rank = 0; rank < run.records.size(); ++rank) {
    run::RankSummary& its = summary.ranks[rank];
    const auto* hash = reinterpret_cast<const char*>(hashes.data());
    its.weights_sha256.assign(hash + rank * weights.size(), weights.size());
    its.peak_rss_bytes = static_cast<std::uint64_t>(peaks[rank]);
    summary.peak_rss_bytes = std::max(summary.peak_rss_bytes, its.peak_rss_bytes);
  }
  if (!parts_workers(parse_mistake(run.config.mistake))) require_equal_weights(summary);
  return summary;
}

}  // namespace lockstep::internal::train
