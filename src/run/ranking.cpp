#include "run/ranking.h"

#include "base/table/quantities.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockstep::internal::run {

namespace {

/// Throughputs that differ by a smaller factor count as equal: so do equal runs on an idle machine.
constexpr double kSameRate = 1.05;

bool is_faster(const Throughput& a, const Throughput& b) {
  return a.spread().median > b.spread().median;
}

double ratio(const Throughput& fast, const Throughput& slow) {
  const double rate = slow.spread().median;
  return rate > 0 ? fast.spread().median / rate : 0;
}

std::string names_of(const std::vector<Throughput>& runs) {
  std::vector<std::string> names;
  for (const Throughput& run : runs) names.push_back(run.name);
  return enumerate(names);
}

/// The other runs that are within noise of the first.
std::vector<Throughput> ties_of(const std::vector<Throughput>& group) {
  std::vector<Throughput> ties;
  std::copy_if(group.begin() + 1, group.end(), std::back_inserter(ties),
               [&](const Throughput& other) { return within_noise(group.front(), other); });
  return ties;
}

}  // namespace

std::string inexactness(const std::string& sync, bool asynchronous, const std::string& compress) {
  if (sync == "local-sgd") return "workers train apart between averages of the weights";
  if (sync == "server" && asynchronous) return "workers compute gradients of outdated weights";
  if (!compress.empty()) return "compression changes the gradients";
  return "";
}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values.front(), values[(values.size() - 1) / 2], values.back()};
}

bool within_noise(const Throughput& a, const Throughput& b) {
  if (is_faster(b, a)) return within_noise(b, a);
  return a.spread().low <= b.spread().high || ratio(a, b) < kSameRate;
}

Ranking::Ranking(std::vector<Throughput> runs, std::string noun) : noun_(std::move(noun)) {
  std::stable_sort(runs.begin(), runs.end(), is_faster);
  for (Throughput& run : runs)
    (run.inexactness.empty() ? exact_ : inexact_).push_back(std::move(run));
}

const Throughput* Ranking::fastest() const {
  return exact_.size() > 1 && ties_of(exact_).empty() ? &exact_.front() : nullptr;
}

std::string rate_text(const Throughput& run) {
  const Spread spread = run.spread();
  const std::string text = three_digits(spread.median) + " images/s";
  if (run.images_per_second.size() < 2) return text;
  return fmt::format("{} ({} to {} in {} repetitions)", text, three_digits(spread.low),
                     three_digits(spread.high), run.images_per_second.size());
}

std::string Ranking::text_of(const std::vector<Throughput>& group, const std::string& noun) const {
  const Throughput& fast = group.front();
  const Throughput& slow = group.back();
  if (group.size() == 1) return fmt::format("{} trains {}.", fast.name, rate_text(fast));
  const std::vector<Throughput> ties = ties_of(group);
  const std::string slowest =
      fmt::format("{:.2f} times as fast as {}{} with {}", ratio(fast, slow), slow.name,
                  group.size() > 2 ? ", the slowest," : "", rate_text(slow));
  if (ties.empty())
    return fmt::format("{} is the fastest {} with {}: {}.", fast.name, noun, rate_text(fast),
                       slowest);
  const std::string unclear =
      fmt::format("No {} is clearly the fastest: {} {} within noise of {}, which trains {}", noun,
                  names_of(ties), ties.size() == 1 ? "is" : "are", fast.name, rate_text(fast));
  if (ties.size() < group.size() - 1) return fmt::format("{}, {}.", unclear, slowest);
  return fmt::format("{}; {} trains {}.", unclear, slow.name, rate_text(slow));
}

std::string Ranking::on_inexact() const {
  std::string text;
  std::vector<Throughput> others;
  for (const Throughput& run : inexact_)
    if (is_faster(run, exact_.front()) && !within_noise(run, exact_.front()))
      text += fmt::format(" {} is {:.2f} times as fast as {} with {}, but not exact: {}.", run.name,
                          ratio(run, exact_.front()), exact_.front().name, rate_text(run),
                          run.inexactness);
    else
      others.push_back(run);
  if (others.empty()) return text;
  const char* verb = others.size() == 1 ? "is" : "are";
  return fmt::format("{} {} {} not exact and {} not faster.", text, names_of(others), verb, verb);
}

std::string Ranking::text() const {
  if (exact_.empty() && inexact_.empty()) return "";
  if (inexact_.empty()) return text_of(exact_, noun_);
  if (exact_.empty())
    return fmt::format("{} {} exact.", text_of(inexact_, noun_),
                       inexact_.size() == 1 ? "It is not" : "None of them is");
  return text_of(exact_, "exact " + noun_) + on_inexact();
}

std::string explain_means(const std::vector<IterationTimes>& runs) {
  std::vector<std::string> seldom, few, many, uneven;
  for (const auto& [name, seconds, averages_every] : runs) {
    if (seconds.mean <= kNearMedian * seconds.p50 && seconds.p50 <= kNearMedian * seconds.mean)
      continue;
    const std::string text = fmt::format("{} (mean {}, median {})", name, in_seconds(seconds.mean),
                                         in_seconds(seconds.p50));
    if (seconds.mean < seconds.p50)
      uneven.push_back(text);
    else if (averages_every > 1)
      seldom.push_back(
          fmt::format("{} averages weights in one of {} iterations only", text, averages_every));
    else
      (seconds.p90 < seconds.mean ? few : many).push_back(text);
  }
  std::vector<std::string> causes = std::move(seldom);
  if (!few.empty())
    causes.push_back("fewer than one in ten iterations are slow, but very slow, with " +
                     enumerate(few));
  if (!many.empty())
    causes.push_back("at least one in ten iterations is slow with " + enumerate(many));
  if (!uneven.empty())
    causes.push_back("part of the iterations is much faster than the others with " +
                     enumerate(uneven));
  if (causes.empty()) return "";
  return fmt::format(
      "The mean time of an iteration differs from the median by more than 20 %: {}. Images per "
      "second count every iteration.",
      fmt::join(causes, "; "));
}

}  // namespace lockstep::internal::run
