#include "train/run_verdict.h"

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
  const observe::Verdict verdict = observe::make_verdict(situation);
  summary.verdict = verdict.text;
  summary.bottleneck = verdict.bottleneck;
}

}  // namespace lockstep::internal::train
