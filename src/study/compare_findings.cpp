// The findings of a comparison.
#include "base/table/quantities.h"
#include "base/text.h"
#include "models/safetensors.h"
#include "study/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lockstep::internal::study {

namespace {

/// A relative difference.
std::string difference_text(double value) {
  return value == 0 ? "0" : fmt::format("{:.0e}", value);
}

/// Seconds per iteration of communication that does not overlap with backward.
double exposed(const ComparedRun& run) {
  return run.summary.exposed_communication_share * run.summary.seconds_per_iteration.mean;
}

bool has_batch_norm(const Comparison& comparison) {
  return comparison.alone().summary.buffers_sha256 != models::weights_sha256({});
}

double largest(const Comparison& comparison, double ComparedRun::*difference) {
  double largest = 0;
  for (const ComparedRun& run : comparison.runs)
    if (run.exact()) largest = std::max(largest, run.*difference);
  return largest;
}

/// Why networks with batch norm end with different weights although every method is correct.
std::string on_batch_norm(const Comparison& comparison) {
  const double from_one = largest(comparison, &ComparedRun::weights_difference);
  const double between = largest(comparison, &ComparedRun::methods_difference);
  const std::string apart = between == 0
                                ? "the methods agree to the last bit"
                                : fmt::format("the methods end up to {:.0e} apart", between);
  if (comparison.sync_bn)
    return fmt::format(
        "With --sync-bn, all workers normalise with the statistics of the whole batch, as one "
        "worker does, so the gradients of every step agree. The curves still differ: sums in a "
        "different order round differently, and batch norm amplifies this step by step (weights "
        "end {:.0e} from those of one worker, {}). This is not an error of a method. --dtype "
        "float64 reduces the rounding; --shards instead of --sync-bn fixes the summation order.",
        from_one, apart);
  return fmt::format(
      "This network has batch norm, so the curves differ although the gradients of every step "
      "agree. Each worker normalises with the statistics of its own images, while one worker uses "
      "those of the whole batch (its weights end {:.0e} away; --sync-bn uses the statistics of the "
      "whole batch). Sums in a different order round differently, and training amplifies this "
      "({}). Neither is an error of a method. With --shards, results are bit-identical on 1, 2, 4 "
      "or more workers.",
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
  if (comparison.all_agree()) {
    const bool all = std::all_of(comparison.runs.begin(), comparison.runs.end(),
                                 [](const ComparedRun& run) { return run.exact(); });
    const double weights = largest(comparison, &ComparedRun::weights_difference);
    const double losses = largest(comparison, &ComparedRun::loss_difference);
    return fmt::format(
        "{} end with the same weights as one worker ({}), and their loss curves coincide ({}): the "
        "methods differ in speed, not in results.",
        all ? "All methods" : "All exact methods",
        weights == 0 ? "to the last bit"
                     : fmt::format("relative difference at most {:.0e}", weights),
        losses == 0 ? "to the last bit" : fmt::format("difference at most {:.0e}", losses));
  }
  if (has_batch_norm(comparison)) return on_batch_norm(comparison);
  std::vector<std::string> off;
  for (const ComparedRun& run : comparison.runs)
    if (run.exact() && run.weights_difference >= kSameWeights) off.push_back(run.name);
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
    if (!run.exact())
      ends.push_back(fmt::format("{} (weights differ by {}, test accuracy {:.1f} %)", run.name,
                                 difference_text(run.weights_difference),
                                 100 * run.summary.test_accuracy));
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
  const double through_slow = slow.summary.ranks.front().bytes_per_iteration;
  const double through_fast = fast.summary.ranks.front().bytes_per_iteration;
  if (through_slow > 1.3 * through_fast)
    reasons.push_back(fmt::format("rank 0 moves {} per iteration with {}, {} with {}",
                                  in_bytes(through_slow), slow.name, in_bytes(through_fast),
                                  fast.name));
  if (fast.summary.hidden_communication_share > 0.1 * fast.summary.communication_share)
    reasons.push_back(fmt::format(
        "{} hides {:.0f} % of its communication behind backward", fast.name,
        100 * fast.summary.hidden_communication_share / fast.summary.communication_share));
  const double gap =
      slow.summary.seconds_per_iteration.mean - fast.summary.seconds_per_iteration.mean;
  const double communication = exposed(slow) - exposed(fast);
  if (gap > 0 && communication > gap / 2)
    reasons.push_back(
        fmt::format("moving gradients and waiting take {} per iteration with {}, {} with {}",
                    in_seconds(exposed(slow)), slow.name, in_seconds(exposed(fast)), fast.name));
  if (reasons.empty()) return "";
  return fmt::format("Reasons why {} is faster than {}: {}.", fast.name, slow.name,
                     fmt::join(reasons, "; "));
}

/// Empty if no run diverged.
std::string on_divergence(const Comparison& comparison) {
  std::vector<std::string> names;
  std::string first;
  for (const ComparedRun& run : comparison.runs) {
    if (run.summary.bottleneck.kind != observe::Limit::diverged) continue;
    names.push_back(run.name);
    if (first.empty()) first = fmt::format(" {}: {}", run.name, run.summary.verdict);
  }
  return names.empty() ? "" : fmt::format("{} diverged.{}", enumerate(names), first);
}

/// Which method is fastest, and by how much it is faster than one worker.
std::string on_speed(const Comparison& comparison) {
  const ComparedRun* fastest = comparison.fastest();
  if (!fastest) return "";
  std::vector<SpeedUp> speedups;
  for (const ComparedRun& run : comparison.runs)
    if (&run != &comparison.alone())
      speedups.push_back(
          {run.name, comparison.speedup(run), run.summary, comparison.alone().summary});
  std::string text = fmt::format(
      "{} One worker alone trains {}: the speed-up of {} is {:.2f}.", comparison.ranking().text(),
      run::rate_text(comparison.alone().throughput()), fastest->name, comparison.speedup(*fastest));
  const std::string remark = on_impossible_speedups(speedups, comparison.machine);
  return remark.empty() ? text : text + " " + remark;
}

}  // namespace

std::string verdict_of(const Comparison& comparison) {
  const std::string diverged = on_divergence(comparison), speed = on_speed(comparison);
  return diverged.empty() || speed.empty() ? diverged + speed : diverged + " " + speed;
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
  if (fast && !run::within_noise(fast->throughput(), slow->throughput()))
    add(on_cause(*fast, *slow));
  if (const ComparedRun& limited = fast ? *fast : comparison.alone();
      !limited.summary.verdict.empty() &&
      limited.summary.bottleneck.kind != observe::Limit::diverged)
    add(fmt::format("{}: {}", limited.name, limited.summary.verdict));
  std::vector<run::IterationTimes> times;
  for (const ComparedRun& run : comparison.runs)
    times.push_back({run.name, run.summary.seconds_per_iteration, run.averages_every});
  add(run::explain_means(times));
  add(on_busy_machine(comparison.machine));
  if (comparison.alone().repetitions.size() == 1)
    add("Every variant was trained once, so the noise of the measurement is not known: --repeat 3 "
        "shows it.");
  return sentences;
}

}  // namespace lockstep::internal::study
