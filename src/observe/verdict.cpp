#include "observe/verdict.h"

#include "base/table/quantities.h"
#include "observe/remedy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::internal::observe {

namespace {

std::string on_compute(const Situation& situation, const Breakdown& parts) {
  const std::string most =
      fmt::format("Compute-bound: forward, backward and the optimizer take {} of an iteration",
                  in_percent(parts.compute / parts.total));
  if (situation.workers() < 2) return most + ".";
  return fmt::format("{}, moving gradients {}, waiting for other ranks {}.", most,
                     in_percent(parts.moving / parts.total),
                     in_percent(parts.waiting / parts.total));
}

std::string on_straggler(const Situation& situation, const Bottleneck& bottleneck) {
  if (bottleneck.rank < 0)
    return fmt::format(
        "Workers wait for each other {} of the time, but no rank is always the slowest.",
        in_percent(bottleneck.share));
  const Straggler slowest = slowest_rank(situation);
  const std::string loading =
      slowest.by_data ? fmt::format(" ({} of it loading data)", in_seconds(slowest.data)) : "";
  const bool two = situation.workers() == 2;
  return fmt::format(
      "Rank {} is a straggler: its own work takes {} per iteration{}, against {} on {}. {} {} of "
      "the time.",
      slowest.rank, in_seconds(slowest.own), loading, in_seconds(slowest.others),
      two ? "the other rank" : "the other ranks (median)",
      two ? "The other rank waits" : "The other ranks wait", in_percent(bottleneck.share));
}

std::string on_data(const Breakdown& parts) {
  return fmt::format(
      "Data loading limits this run: an iteration waits {} for its images ({} of the time).",
      in_seconds(parts.data), in_percent(parts.data / parts.total));
}

std::string on_latency(const Situation& situation, const Breakdown& parts) {
  double operations = 0;
  for (const RankMeasures& rank : situation.ranks)
    operations += rank.operations / situation.workers();
  const bool messages =
      situation.sync == "p2p" || situation.sync == "coordinator" || situation.sync == "server";
  return fmt::format("Latency-bound: {} of an iteration is spent in {}{} with a latency of {}.",
                     in_percent(parts.moving / parts.total),
                     counted(operations, messages ? "message" : "collective"),
                     std::round(operations) == 1 ? "" : ", each",
                     in_seconds(latency_of(situation) / std::max(1.0, operations)));
}

std::string on_bandwidth(const Situation& situation, const Breakdown& parts) {
  double bytes = 0, seconds = 0;
  for (const RankMeasures& rank : situation.ranks) {
    bytes = std::max(bytes, rank.bytes);
    seconds += rank.times.communication / situation.workers();
  }
  seconds -= parts.waiting;
  const std::string speed = seconds > 0 ? fmt::format(", at {}/s", in_bytes(bytes / seconds)) : "";
  const std::string how_much =  // 0 if a library does not report its bytes
      bytes > 0 ? fmt::format(" ({} by the busiest rank{})", in_bytes(bytes), speed) : "";
  return fmt::format(
      "Bandwidth-bound: {} of an iteration is spent moving gradients while nothing is computed{}.",
      in_percent(parts.moving / parts.total), how_much);
}

std::string on_oversubscription(const Situation& situation, const Breakdown& parts) {
  return fmt::format(
      "Oversubscribed: {} × {} share {}. Workers take turns ({} compute, {} moving gradients, {} "
      "waiting for each other), so this run measures overhead, not speed-up.",
      counted(situation.workers(), "worker"), counted(situation.threads, "thread"),
      counted(situation.cores, "core"), in_percent(parts.compute / parts.total),
      in_percent(parts.moving / parts.total), in_percent(parts.waiting / parts.total));
}

std::string sentence_on(const Situation& situation, const Bottleneck& bottleneck) {
  const Breakdown parts = break_down(situation);
  switch (bottleneck.kind) {
    case Limit::unknown:
      return "The run is too short to tell what limits it: train more iterations.";
    case Limit::compute:
      return on_compute(situation, parts);
    case Limit::straggler:
      return on_straggler(situation, bottleneck);
    case Limit::data:
      return on_data(parts);
    case Limit::latency:
      return on_latency(situation, parts);
    case Limit::bandwidth:
      return on_bandwidth(situation, parts);
    case Limit::oversubscribed:
      return on_oversubscription(situation, parts);
    case Limit::diverged:
      break;  // not a matter of speed: see divergence.h
  }
  return "";
}

}  // namespace

Verdict make_verdict(const Situation& situation) {
  Verdict verdict{.bottleneck = find_bottleneck(situation), .text = {}};
  const Remedy remedy = remedy_for(situation, verdict.bottleneck);
  verdict.bottleneck.gain = remedy.gain;
  verdict.text = sentence_on(situation, verdict.bottleneck);
  if (!remedy.text.empty()) verdict.text += " " + remedy.text;
  return verdict;
}

Verdict verdict_on(const Divergence& divergence) {
  return {{.kind = Limit::diverged, .iteration = divergence.iteration}, divergence.text};
}

}  // namespace lockstep::internal::observe
