#include "train/summary_statistics.h"

#include "observe/statistics.h"
#include "sync/shards.h"

#include <map>
#include <span>

namespace lockstep::internal::train {

namespace {

/// Sums over a rank's iterations, or over several ranks'.
struct Totals {
  observe::Times times;
  double iterations = 0;
  double images = 0;
  double bytes = 0;
  double operations = 0;
  double loss_sum = 0;  // these three over the last epoch only
  double correct = 0;
  double samples = 0;

  void add(const Totals& other) {
    times += other.times;
    iterations += other.iterations;
    images += other.images;
    bytes += other.bytes;
    operations += other.operations;
    loss_sum += other.loss_sum;
    correct += other.correct;
    samples += other.samples;
  }
};

/// Times, images and bytes exclude the first iteration, which includes one-time setup.
Totals totals_of(std::span<const run::Record> records, std::span<const run::Record> last_epoch) {
  Totals totals;
  for (const run::Record& record : records.size() > 1 ? records.subspan(1) : records) {
    totals.times += record.times;
    totals.bytes += record.bytes;
    totals.operations += record.operations;
    totals.iterations += 1;
    totals.images += record.samples;
  }
  for (const run::Record& record : last_epoch) {
    totals.loss_sum += record.loss_sum;
    totals.correct += record.correct;
    totals.samples += record.samples;
  }
  return totals;
}

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

void fill(run::CommonResults& part, const Totals& totals) {
  const observe::Times& times = totals.times;
  part.compute_share = ratio(times.forward + times.backward + times.optimizer, times.total);
  part.communication_share = ratio(times.communication, times.total);
  part.hidden_communication_share = ratio(times.hidden, times.total);
  part.exposed_communication_share = ratio(times.exposed, times.total);
  part.wait_share = ratio(times.wait, times.total);
  part.data_share = ratio(times.data, times.total);
  part.bytes_per_iteration = ratio(totals.bytes, totals.iterations);
  part.operations_per_iteration = ratio(totals.operations, totals.iterations);
  part.train_loss = ratio(totals.loss_sum, totals.samples);
  part.train_accuracy = ratio(totals.correct, totals.samples);
}

run::Distribution distribution_of(const std::vector<std::vector<run::Record>>& records) {
  std::vector<double> seconds;
  for (const auto& rank : records)
    for (const run::Record& record : rank)
      if (&record != &rank.front() || rank.size() == 1) seconds.push_back(record.times.total);
  return {observe::mean(seconds), observe::percentile(seconds, 0.5),
          observe::percentile(seconds, 0.9)};
}

}  // namespace

double loss_sum_of(const std::vector<std::vector<run::Record>>& ranks) {
  std::map<double, std::vector<double>> by_iteration;
  for (const auto& records : ranks)
    for (const run::Record& record : records)
      by_iteration[record.iteration].push_back(record.loss_sum);
  double sum = 0;
  for (const auto& [iteration, losses] : by_iteration) sum += sync::tree_sum(losses);
  return sum;
}

void summarise(const std::vector<std::vector<run::Record>>& records,
               const std::vector<std::vector<run::Record>>& last_epoch, run::Summary& summary) {
  Totals all;
  summary.ranks.resize(records.size());
  for (std::size_t rank = records.size(); rank < last_epoch.size(); ++rank)
    all.add(totals_of({}, last_epoch[rank]));
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    const Totals mine = totals_of(records[rank], last_epoch[rank]);
    summary.ranks[rank].rank = static_cast<int>(rank);
    summary.ranks[rank].seconds_per_iteration = ratio(mine.times.total, mine.iterations);
    fill(summary.ranks[rank], mine);
    all.add(mine);
  }
  all.loss_sum = loss_sum_of(last_epoch);
  fill(summary, all);
  summary.seconds_per_iteration = distribution_of(records);
  summary.images_per_second =
      ratio(all.images * static_cast<double>(records.size()), all.times.total);
  summary.bandwidth_mbs = ratio(all.bytes, all.times.communication) / 1e6;
}

}  // namespace lockstep::internal::train
