// The table and the findings of a comparison.
#include "base/text.h"
#include "models/safetensors.h"
#include "study/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lockstep::internal::study {

namespace {

constexpr double kMegabyte = 1e6;
/// Times that differ by a smaller factor count as equal: so do the medians of two equal runs.
constexpr double kSameTime = 1.05;

std::string digits(double value) {
  return fmt::format("{:.3g}", value);
}

double megabytes(const run::RankSummary& rank) {
  return rank.bytes_per_iteration / kMegabyte;
}

/// Seconds per iteration of communication that does not overlap with backward.
double exposed(const ComparedRun& run) {
  return run.summary.exposed_communication_share * run.summary.seconds_per_iteration.mean;
}

bool has_batch_norm(const Comparison& comparison) {
  return comparison.alone().summary.buffers_sha256 != models::weights_sha256({});
}

std::string weights_column(const ComparedRun& run) {
  if (run.weights_difference < kSameWeights) return "equal";
  return fmt::format("{:.0e} off", run.weights_difference);
}

double largest(const Comparison& comparison, double ComparedRun::*difference) {
  double largest = 0;
  for (const ComparedRun& run : comparison.runs)
    if (run.exact) largest = std::max(largest, run.*difference);
  return largest;
}

/// Why networks with batch norm end with different weights although every method is correct.
std::string on_batch_norm(const Comparison& comparison) {
  const double from_one = largest(comparison, &ComparedRun::weights_difference);
  const double apart = largest(comparison, &ComparedRun::methods_difference);
  if (comparison.sync_bn)
    return fmt::format(
        "With --sync-bn, all workers normalise with the statistics of the whole batch, as one "
        "worker does, so the gradients of every step agree. The curves still differ: sums in a "
        "different order round differently, and batch norm amplifies this step by step (weights "
        "end {:.0e} from those of one worker, the methods end up to {:.0e} apart). This is not an "
        "error of a method. --dtype float64 reduces the rounding; --shards instead of --sync-bn "
        "fixes the summation order.",
        from_one, apart);
  return fmt::format(
      "This network has batch norm, so the curves differ although the gradients of every step "
      "agree. Each worker normalises with the statistics of its own images, while one worker uses "
      "those of the whole batch (its weights end {:.0e} away; --sync-bn uses the statistics of the "
      "whole batch). Sums in a different order round differently, and training amplifies this (the "
      "methods end up to {:.0e} apart). Neither is an error of a method. With --shards, results "
      "are bit-identical on 1, 2, 4 or more workers.",
      from_one, apart);
}

/// With shards the weights do not depend on the number of workers. They depend on the method only
/// if its algorithm has its own summation order.
std::string on_shards(const Comparison& comparison) {
  std::vector<std::string> off;
  std::vector<std::string> wrong;
  for (const ComparedRun& run : comparison.runs) {
    if (run.summary.weights_sha256 == comparison.alone().summary.weights_sha256) continue;
    const sync::Method method = sync::parse_method(run.summary.sync, run.summary.algorithm);
    (sync::order_dependence(method).empty() ? wrong : off).push_back(run.name);
  }
  if (!wrong.empty())
    return fmt::format(
        "With --shards {}, all sums follow one fixed tree, but the weights of {} differ from those "
        "of one worker. Only a run that diverged to NaN may differ; otherwise this is a bug in "
        "Lockstep.",
        comparison.shards, enumerate(wrong));
  const std::string same = fmt::format(
      "With --shards {}, sums follow one fixed tree that does not depend on the workers: ",
      comparison.shards);
  if (off.empty()) return same + "all methods end with exactly the weights of one worker.";
  return fmt::format(
      "{}all methods except {} end with exactly the weights of one worker. For these, the "
      "summation order is part of the algorithm (weights differ by up to {:.0e}).",
      same, enumerate(off), largest(comparison, &ComparedRun::weights_difference));
}

std::string on_equality(const Comparison& comparison) {
  if (comparison.shards > 0) return on_shards(comparison);
  if (comparison.all_agree())
    return fmt::format(
        "{} end with the same weights as one worker (relative difference at most {:.0e}), and "
        "their loss curves coincide (difference at most {:.0e}): the methods differ in speed, not "
        "in results.",
        std::all_of(comparison.runs.begin(), comparison.runs.end(),
                    [](const ComparedRun& run) { return run.exact; })
            ? "All methods"
            : "All exact methods",
        largest(comparison, &ComparedRun::weights_difference),
        largest(comparison, &ComparedRun::loss_difference));
  if (has_batch_norm(comparison)) return on_batch_norm(comparison);
  std::vector<std::string> off;
  for (const ComparedRun& run : comparison.runs)
    if (run.exact && run.weights_difference >= kSameWeights) off.push_back(run.name);
  return fmt::format(
      "{} ended with different weights than one worker. Without batch norm only rounding can "
      "differ, and a diverging run amplifies it: try a smaller --lr or --dtype float64.",
      enumerate(off));
}

/// Results of the methods that trade exactness for fewer bytes or less waiting; empty if there are
/// none.
std::string on_inexact(const Comparison& comparison) {
  std::vector<std::string> ends;
  for (const ComparedRun& run : comparison.runs)
    if (!run.exact)
      ends.push_back(fmt::format("{} (weights differ by {:.0e}, test accuracy {:.1f} %)", run.name,
                                 run.weights_difference, 100 * run.summary.test_accuracy));
  if (ends.empty()) return "";
  return fmt::format(
      "Approximate methods do not reproduce the updates of one worker (test accuracy {:.1f} %): "
      "{}.",
      100 * comparison.alone().summary.test_accuracy, enumerate(ends));
}

/// Groups of runs whose final weights are bit-identical; empty if there are none.
std::string on_equal_bits(const Comparison& comparison) {
  std::map<std::string, std::vector<std::string>> by_hash;
  for (const ComparedRun& run : comparison.runs)
    by_hash[run.summary.weights_sha256].push_back(run.name);
  std::vector<std::string> groups;
  for (const auto& [hash, names] : by_hash)
    if (names.size() > 1) groups.push_back(enumerate(names));
  if (groups.empty()) return "";
  return fmt::format("Bit-identical, because they add in the same order: {}.",
                     fmt::join(groups, "; "));
}

/// Reasons in the measurements why one method is faster than another; empty if there are none.
std::string on_cause(const ComparedRun& fast, const ComparedRun& slow) {
  std::vector<std::string> reasons;
  const double through_slow = megabytes(slow.summary.ranks.front());
  const double through_fast = megabytes(fast.summary.ranks.front());
  if (through_slow > 1.3 * through_fast)
    reasons.push_back(fmt::format("rank 0 moves {} MB per iteration with {}, {} MB with {}",
                                  digits(through_slow), slow.name, digits(through_fast),
                                  fast.name));
  if (fast.summary.hidden_communication_share > 0.1 * fast.summary.communication_share)
    reasons.push_back(fmt::format(
        "{} hides {:.0f} % of its communication behind backward", fast.name,
        100 * fast.summary.hidden_communication_share / fast.summary.communication_share));
  const double gap =
      slow.summary.seconds_per_iteration.mean - fast.summary.seconds_per_iteration.mean;
  const double communication = exposed(slow) - exposed(fast);
  if (gap > 0 && communication > gap / 2)
    reasons.push_back(fmt::format(
        "exposed communication takes {} ms per iteration with {}, {} ms with {}",
        digits(1e3 * exposed(slow)), slow.name, digits(1e3 * exposed(fast)), fast.name));
  if (reasons.empty()) return "";
  return fmt::format("Reasons: {}.", fmt::join(reasons, "; "));
}

}  // namespace

TextTable table_of(const Comparison& comparison) {
  TextTable table{
      .title = "Sync methods",
      .columns = {
          "method",
          "workers",
          {"s/iteration", "median, without the first iteration"},
          "total s",
          {"speed-up", "relative to one worker, which computes the whole batch"},
          {"compute %", "of an iteration's time: forward, backward and optimizer"},
          {"hidden %", "communication that overlaps with backward"},
          {"exposed %", "communication that does not overlap with backward, including waiting"},
          {"MB rank 0", "moved by rank 0 per iteration"},
          {"MB others", "moved by each other rank per iteration"},
          {"loss", "training loss in the last epoch"},
          "train %",
          "test %",
          {"weights", "final weights compared with those of one worker"}}};
  for (const ComparedRun& run : comparison.runs) {
    const run::Summary& summary = run.summary;
    const bool alone = summary.workers == 1;
    table.rows.push_back(
        {run.name, fmt::format("{}", summary.workers), digits(summary.seconds_per_iteration.p50),
         fmt::format("{:.2f}", summary.seconds_total),
         fmt::format("{:.2f}", comparison.speedup(run)), percent_cell(summary.compute_share),
         alone ? "–" : percent_cell(summary.hidden_communication_share),
         alone ? "–" : percent_cell(summary.exposed_communication_share),
         alone ? "–" : digits(megabytes(summary.ranks.front())),
         alone ? "–" : digits(megabytes(summary.ranks.back())),
         fmt::format("{:.4f}", summary.train_loss), percent_cell(summary.train_accuracy),
         percent_cell(summary.test_accuracy), weights_column(run)});
  }
  return table;
}

std::vector<std::string> sentences_of(const Comparison& comparison) {
  std::vector<std::string> sentences{on_equality(comparison)};
  auto add = [&](std::string sentence) {
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  };
  add(on_inexact(comparison));
  add(on_equal_bits(comparison));
  const ComparedRun* fast = comparison.fastest();
  const ComparedRun* slow = comparison.slowest();
  if (!fast || fast == slow) return sentences;
  const double seconds = fast->summary.seconds_per_iteration.p50;
  const double ratio = seconds > 0 ? slow->summary.seconds_per_iteration.p50 / seconds : 1;
  if (ratio < kSameTime) {
    add("All methods take the same time within 5 %.");
    return sentences;
  }
  add(fmt::format("{} is fastest with {} ms per iteration, {:.2f} times as fast as {} (slowest).",
                  fast->name, digits(1e3 * seconds), ratio, slow->name));
  add(on_cause(*fast, *slow));
  return sentences;
}

}  // namespace lockstep::internal::study
