#include "observe/remedy.h"

#include "base/table/quantities.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace lockstep::internal::observe {

namespace {

/// Smaller speed-ups are not advised: runs vary by as much.
constexpr double kWorthIt = 1.05;

/// One function for each kind of advice. A function returns an empty remedy where its advice does
/// not apply.
class Advisor {
 public:
  explicit Advisor(const Situation& situation)
      : situation_(situation), parts_(break_down(situation)), slowest_(slowest_rank(situation)) {}

  Remedy equal_ranks() const {
    return saving(slowest_.late(),
                  "If all ranks were equally fast, an iteration would take {} ({}).",
                  slowest_.total);
  }

  Remedy steady_ranks() const {
    return saving(parts_.waiting,
                  "Check for other processes on these cores. If every worker took the average "
                  "time, an iteration would take {} ({}).");
  }

  Remedy loader_threads() const {
    const double rest = parts_.total - parts_.data;
    // Loader threads that never pause take one iteration each to load a batch.
    const int now = situation_.loader_threads;
    const double loading = now == 0 ? parts_.data : parts_.total * now;
    const double needed = rest > 0 ? std::ceil(loading / rest) : kMostThreads;
    const int threads = static_cast<int>(std::clamp<double>(needed, now + 1, kMostThreads));
    const double seconds = std::max(rest, loading / threads);
    return saving(parts_.total - seconds,
                  fmt::format("--loader-threads {} would load images while the worker computes: "
                              "an iteration could take {{}} (up to {{}}).",
                              threads));
  }

  Remedy shared_memory() const {
    const std::string& now = situation_.transport;
    if (!situation_.one_host || now == "shm" || now == "thread") return {};
    return saving(parts_.moving,
                  "All workers run on one host: with --transport shm, gradients would bypass the "
                  "network stack, and an iteration could take {} (up to {}).");
  }

  /// ddp reduces the same gradients in a few buckets while backward runs, and every rank sends
  /// equally many bytes. So does sharded, and local-sgd moves fewer. The last bucket overlaps with
  /// nothing.
  Remedy ddp(Limit kind) const {
    if (situation_.sync == "ddp" || situation_.sync == "sharded" || situation_.sync == "local-sgd")
      return {};
    const bool several = situation_.buckets > 1;
    const double moving = parts_.moving * (kind == Limit::latency ? fewer() : less());
    const double seconds = std::max(0.0, moving - (several ? mean_backward() : 0));
    return saving(parts_.moving - seconds,
                  fmt::format("--sync ddp reduces {}: an iteration could take {{}} (up to {{}}).",
                              several ? "gradients in buckets while backward runs"
                                      : "all gradients at once, as one bucket"));
  }

  Remedy fewer_buckets() const {
    const std::size_t few = buckets_by_default();
    if (situation_.sync != "ddp" || situation_.buckets <= few) return {};
    const auto buckets = static_cast<double>(situation_.buckets);
    const double less = buckets - static_cast<double>(few);
    const double each = latency_of(situation_) / buckets;
    return saving(less * std::min(each, parts_.moving / buckets),
                  fmt::format("{} instead of {} (--first-bucket-mb 1 --bucket-mb 25) would save "
                              "about {:.0f} × {}: an iteration could take {{}} ({{}}).",
                              few == 1 ? "One bucket" : counted(few, "bucket"), situation_.buckets,
                              less, in_seconds(each)));
  }

  /// A step with twice the images moves the same gradients.
  Remedy larger_batch() const {
    const double gain = 2 * parts_.total / (2 * parts_.total - parts_.moving);
    if (gain < kWorthIt) return {};
    return {gain, fmt::format("Twice the batch would halve communication per image: up to {} "
                              "times as many images/s.",
                              three_digits(gain))};
  }

  Remedy idle_cores() const {
    const int used = situation_.workers() * situation_.threads;
    if (used >= situation_.cores) return {};
    const double used_fraction = static_cast<double>(used) / situation_.cores;
    return saving(parts_.compute * (1 - used_fraction),
                  fmt::format("{} of {} cores {} idle: with {} on each, an iteration could take "
                              "{{}} (up to {{}}).",
                              situation_.cores - used, situation_.cores,
                              situation_.cores - used == 1 ? "is" : "are",
                              situation_.workers() > 1 ? "a worker" : "a worker or a thread"));
  }

  Remedy more_cores() const {
    return saving((parts_.compute + parts_.data) / 2,
                  "Only more or faster cores would help: with twice as many workers, each on its "
                  "own core, an iteration could take {} (up to {}).");
  }

  /// The same cores do the same arithmetic, so each of fewer workers has more to compute.
  Remedy fewer_workers() const {
    const int workers = std::min(situation_.workers(), situation_.cores);
    const std::string change = fmt::format("{} of {}", counted(workers, "worker"),
                                           counted(situation_.cores / workers, "thread"));
    const double more = situation_.workers() * situation_.threads / double(situation_.cores);
    Remedy remedy = saving(parts_.total - (parts_.compute + parts_.data) * more,
                           fmt::format("With {}, no core is shared, and an iteration could take "
                                       "{{}} (up to {{}}).",
                                       change));
    if (remedy.text.empty())
      remedy.text = fmt::format("With {}, no core is shared, at about the same speed.", change);
    return remedy;
  }

 private:
  static constexpr double kMostThreads = 16;

  /// `text` has two placeholders: "new time instead of old time", and the speed-up.
  template <typename Text>
  Remedy saving(double seconds, const Text& text) const {
    return saving(seconds, text, parts_.total);
  }
  template <typename Text>
  Remedy saving(double seconds, const Text& text, double of) const {
    const double left = of - seconds;
    if (!(left > 0) || of / left < kWorthIt) return {};
    return {of / left,
            fmt::format(fmt::runtime(text), instead_of(left, of), times_as_fast(of / left))};
  }

  /// Number of buckets with the default sizes: the first of 1 MiB, the others of 25 MiB.
  std::size_t buckets_by_default() const {
    const double beyond = situation_.gradient_bytes / (1 << 20) - 1;
    return 1 + static_cast<std::size_t>(std::ceil(std::max(0.0, beyond) / 25));
  }

  double mean_backward() const {
    double sum = 0;
    for (const RankMeasures& rank : situation_.ranks) sum += rank.times.backward;
    return sum / std::max(1, situation_.workers());
  }

  /// Number of buckets divided by the number of operations of the busiest rank; at most 1.
  double fewer() const {
    double most = 1;
    for (const RankMeasures& rank : situation_.ranks) most = std::max(most, rank.operations);
    return std::min(1.0, static_cast<double>(situation_.buckets) / most);
  }

  /// Bytes that each rank sends in an even all-reduce, divided by the bytes that the busiest rank
  /// moves in this run; at most 1.
  double less() const {
    double most = 0;
    for (const RankMeasures& rank : situation_.ranks) most = std::max(most, rank.bytes);
    const double ranks = std::max(1, situation_.workers());
    const double even = 2 * (ranks - 1) / ranks * situation_.gradient_bytes;
    return most > 0 ? std::min(1.0, even / most) : 1;
  }

  const Situation& situation_;
  const Breakdown parts_;
  const Straggler slowest_;
};

Remedy first_of(std::initializer_list<Remedy> remedies) {
  for (const Remedy& remedy : remedies)
    if (!remedy.text.empty()) return remedy;
  return {};
}

Remedy best_of(std::initializer_list<Remedy> remedies) {
  return std::max(remedies, [](const Remedy& a, const Remedy& b) { return a.gain < b.gain; });
}

}  // namespace

Remedy remedy_for(const Situation& situation, const Bottleneck& bottleneck) {
  const Advisor advise(situation);
  const Limit kind = bottleneck.kind;
  switch (kind) {
    case Limit::straggler:
      return bottleneck.rank >= 0 ? advise.equal_ranks() : advise.steady_ranks();
    case Limit::data:
      return advise.loader_threads();
    case Limit::latency:
      return first_of({advise.ddp(kind), advise.fewer_buckets(), advise.shared_memory(),
                       advise.larger_batch()});
    case Limit::bandwidth:
      return first_of({advise.shared_memory(), advise.ddp(kind), advise.larger_batch()});
    case Limit::oversubscribed:
      return advise.fewer_workers();
    case Limit::compute:
      return first_of({best_of({advise.idle_cores(), advise.shared_memory(), advise.ddp(kind),
                                advise.loader_threads()}),
                       advise.more_cores()});
    case Limit::unknown:
    case Limit::diverged:
      break;
  }
  return {};
}

}  // namespace lockstep::internal::observe
