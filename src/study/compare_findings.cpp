// What a comparison shows: its table, and in words.
#include "base/text.h"
#include "models/safetensors.h"
#include "study/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lockstep::study {

namespace {

constexpr double kMegabyte = 1e6;
/// Times that differ by less are called the same: medians of two equal runs do.
constexpr double kSameTime = 1.05;

std::string digits(double value) {
  return fmt::format("{:.3g}", value);
}

double megabytes(const train::RankSummary& rank) {
  return rank.bytes_per_iteration / kMegabyte;
}

/// Seconds of an iteration in which nothing but communication goes on.
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

/// Why networks with batch norm end elsewhere, though every method did its work.
std::string on_batch_norm(const Comparison& comparison) {
  const double from_one = largest(comparison, &ComparedRun::weights_difference);
  const double apart = largest(comparison, &ComparedRun::methods_difference);
  if (comparison.sync_bn)
    return fmt::format(
        "With --sync-bn all workers normalise by the statistics of the whole batch, as one worker "
        "alone does, so the gradients of every step agree. The curves part nevertheless: sums in "
        "another order round differently, which batch norm amplifies step by step (weights end "
        "{:.0e} away from one worker's, the methods up to {:.0e} apart). That is no fault of a "
        "method; --dtype float64 rounds less, and --shards in place of --sync-bn fixes the order.",
        from_one, apart);
  return fmt::format(
      "This network has batch norm, so the curves part although the gradients of every step "
      "agree: each worker normalises by the statistics of its own images, which one worker alone "
      "does not (its weights end {:.0e} away; --sync-bn takes the statistics of the whole batch), "
      "and sums in another order round differently, which training amplifies (the methods end up "
      "to {:.0e} apart). Neither is a fault of a method; with --shards both are the same on 1, 2, "
      "4 "
      "or more workers, to the last bit.",
      from_one, apart);
}

/// With shards the weights depend on neither the workers nor, but for some algorithms, the method.
std::string on_shards(const Comparison& comparison) {
  std::vector<std::string> off;
  std::vector<std::string> wrong;
  for (const ComparedRun& run : comparison.runs) {
    if (run.summary.weights_sha256 == comparison.alone().summary.weights_sha256) continue;
    const sync::Method method = sync::parse_method(run.summary.sync, run.summary.algorithm);
    (sync::order_of_its_own(method).empty() ? wrong : off).push_back(run.name);
  }
  if (!wrong.empty())
    return fmt::format(
        "With --shards {} all sums follow one tree, and yet {} ended with other bits than one "
        "worker "
        "alone: a training that diverged to no numbers may, all else is a bug in Lockstep.",
        comparison.shards, enumerate(wrong));
  const std::string same = fmt::format(
      "With --shards {} the sums follow one tree, whoever computes its parts: ", comparison.shards);
  if (off.empty())
    return same + "all methods end with the weights of one worker alone, to the last bit.";
  return fmt::format(
      "{}all methods but {} end with the weights of one worker alone, to the last bit. What "
      "differs "
      "there is the order of addition, which is part of the algorithm (weights end up to {:.0e} "
      "away).",
      same, enumerate(off), largest(comparison, &ComparedRun::weights_difference));
}

std::string on_equality(const Comparison& comparison) {
  if (comparison.shards > 0) return on_shards(comparison);
  if (comparison.all_agree())
    return fmt::format(
        "{} end with the same weights as one worker alone (relative difference at most "
        "{:.0e}), and their loss curves lie on each other (never more than {:.0e} apart): they "
        "differ in time, not in what they learn.",
        std::all_of(comparison.runs.begin(), comparison.runs.end(),
                    [](const ComparedRun& run) { return run.exact; })
            ? "All methods"
            : "All methods that average gradients as they are",
        largest(comparison, &ComparedRun::weights_difference),
        largest(comparison, &ComparedRun::loss_difference));
  if (has_batch_norm(comparison)) return on_batch_norm(comparison);
  std::vector<std::string> off;
  for (const ComparedRun& run : comparison.runs)
    if (run.exact && run.weights_difference >= kSameWeights) off.push_back(run.name);
  return fmt::format(
      "{} ended with other weights than one worker alone. Without batch norm only rounding may "
      "differ; a training that diverges amplifies it: try a smaller --lr, or --dtype float64.",
      enumerate(off));
}

/// Methods that give up some accuracy for fewer bytes or waits; empty if there are none.
std::string on_inexact(const Comparison& comparison) {
  std::vector<std::string> ends;
  for (const ComparedRun& run : comparison.runs)
    if (!run.exact)
      ends.push_back(fmt::format("{} {:.0e} away with {:.1f} % of the test images right", run.name,
                                 run.weights_difference, 100 * run.summary.test_accuracy));
  if (ends.empty()) return "";
  return fmt::format(
      "Not meant to make the updates of one worker alone, who ends with {:.1f} % right: {}.",
      100 * comparison.alone().summary.test_accuracy, enumerate(ends));
}

/// Methods whose weights are the same bits; empty if there are none.
std::string on_equal_bits(const Comparison& comparison) {
  std::map<std::string, std::vector<std::string>> by_hash;
  for (const ComparedRun& run : comparison.runs)
    by_hash[run.summary.weights_sha256].push_back(run.name);
  std::vector<std::string> groups;
  for (const auto& [hash, names] : by_hash)
    if (names.size() > 1) groups.push_back(enumerate(names));
  if (groups.empty()) return "";
  return fmt::format("Equal to the last bit, because they add in the same order: {}.",
                     fmt::join(groups, "; "));
}

/// Why one method is faster than another, as far as the measurements say; empty if they do not.
std::string on_cause(const ComparedRun& fast, const ComparedRun& slow) {
  std::vector<std::string> reasons;
  const double through_slow = megabytes(slow.summary.ranks.front());
  const double through_fast = megabytes(fast.summary.ranks.front());
  if (through_slow > 1.3 * through_fast)
    reasons.push_back(fmt::format("{} moves {} MB through rank 0 in every iteration, {} only {} MB",
                                  slow.name, digits(through_slow), fast.name,
                                  digits(through_fast)));
  if (fast.summary.hidden_communication_share > 0.1 * fast.summary.communication_share)
    reasons.push_back(fmt::format(
        "{} hides {:.0f} % of its communication behind backward", fast.name,
        100 * fast.summary.hidden_communication_share / fast.summary.communication_share));
  const double gap =
      slow.summary.seconds_per_iteration.mean - fast.summary.seconds_per_iteration.mean;
  const double communication = exposed(slow) - exposed(fast);
  if (gap > 0 && communication > gap / 2)
    reasons.push_back(fmt::format(
        "communication that nothing hides takes {} ms of an iteration with {}, {} ms "
        "with {}",
        digits(1e3 * exposed(slow)), slow.name, digits(1e3 * exposed(fast)), fast.name));
  if (reasons.empty()) return "";
  return fmt::format("Why: {}.", fmt::join(reasons, "; "));
}

}  // namespace

TextTable table_of(const Comparison& comparison) {
  TextTable table;
  table.title = "Sync methods";
  table.columns = {"method",    "workers",  "s/iteration", "total s",   "speed-up",
                   "compute %", "hidden %", "exposed %",   "MB rank 0", "MB others",
                   "loss",      "train %",  "test %",      "weights"};
  table.explain = {{"s/iteration", "median, without the first"},
                   {"speed-up", "over one worker alone, which computes the whole batch"},
                   {"hidden %", "communication while backward goes on"},
                   {"exposed %", "communication that nothing hides, waiting for others included"},
                   {"MB rank 0", "that rank 0 moves in an iteration"},
                   {"MB others", "that each other rank moves in an iteration"},
                   {"loss", "on the training images, in the last epoch"},
                   {"weights", "compared with those of one worker alone, at the end"}};
  for (const ComparedRun& run : comparison.runs) {
    const train::Summary& summary = run.summary;
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
  add(fmt::format("{} is fastest with {} ms an iteration, {:.2f} times as fast as {}, the slowest.",
                  fast->name, digits(1e3 * seconds), ratio, slow->name));
  add(on_cause(*fast, *slow));
  return sentences;
}

}  // namespace lockstep::study
