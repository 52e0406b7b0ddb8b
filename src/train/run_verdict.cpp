#include "train/run_verdict.h"

#include "observe/divergence.h"
#include "observe/statistics.h"
#include "observe/verdict.h"

#include <algorithm>

namespace lockstep::internal::train {

namespace {

/// Leaves out the first iteration, which includes one-time setup, unless it is the only one.
std::size_t first_that_counts(const std::vector<run::Record>& records) {
  return records.size() > 1 ? 1 : 0;
}

observe::RankMeasures mean_of(const std::vector<run::Record>& records) {
  observe::RankMeasures mean;
  const std::size_t first = first_that_counts(records);
  const double count = std::max<double>(1, static_cast<double>(records.size() - first));
  for (std::size_t i = first; i < records.size(); ++i) {
    mean.times += records[i].times;
    mean.operations += records[i].operations / count;
    mean.bytes += records[i].bytes / count;
  }
  for (const auto& [name, part] : observe::kTimes) mean.times.*part /= count;
  return mean;
}

/// REQUIRES: the summary has the scores of the run.
observe::Learning learning_of(const std::vector<std::vector<run::Record>>& records,
                              const Circumstances& circumstances, const run::Summary& summary) {
  const TrainConfig& config = circumstances.config;
  observe::Learning learning{.done_before = summary.iterations - records[0].size(),
                             .test_loss = summary.test_loss,
                             .classes = circumstances.classes,
                             .rate = config.learning_rate,
                             .warms_up = config.recipe.warmup > 0,
                             .clips = config.recipe.clip > 0 || config.recipe.clip_value > 0};
  for (std::size_t i = 0; i < records[0].size(); ++i) {
    double loss = 0, samples = 0;
    for (const auto& rank : records) loss += rank[i].loss_sum, samples += rank[i].samples;
    learning.losses.push_back(loss / samples);
  }
  return learning;
}

}  // namespace

void add_verdict(const std::vector<std::vector<run::Record>>& records,
                 const Circumstances& circumstances, run::Summary& summary) {
  observe::Situation situation{.ranks = {},
                               .sync = summary.sync,
                               .transport = summary.transport,
                               .buckets = circumstances.buckets,
                               .gradient_bytes = circumstances.gradient_bytes,
                               .threads = summary.threads,
                               .cores = circumstances.machines.cores,
                               .one_host = circumstances.machines.one_host,
                               .loader_threads = circumstances.loader_threads};
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    observe::RankMeasures& its = situation.ranks.emplace_back(mean_of(records[rank]));
    its.latency = summary.ranks[rank].latency_seconds = circumstances.latency[rank];
  }
  summary.latency_seconds = observe::mean(circumstances.latency);
  const auto diverged = observe::find_divergence(learning_of(records, circumstances, summary));
  const observe::Verdict verdict =
      diverged ? observe::verdict_on(*diverged) : observe::make_verdict(situation);
  summary.verdict = verdict.text;
  summary.bottleneck = verdict.bottleneck;
}

}  // namespace lockstep::internal::train
