// Ranking of runs by throughput: images per second over all iterations but the first. The median
// iteration does not rank methods, because some communicate in a few iterations only.
#pragma once

#include "run/summary.h"

#include <string>
#include <vector>

namespace lockstep::internal::run {

/// What a sync method gives up for speed, as a clause: "workers train apart between averages of
/// the weights". Empty for an exact method, which makes the updates of one worker apart from
/// rounding. `asynchronous` is for the server with --staleness, `compress` the value of --compress.
std::string inexactness(const std::string& sync, bool asynchronous, const std::string& compress);

/// The smallest, the median and the largest of several values. The median of an even number of
/// values is the lower one of the two in the middle, so that it is one of the measurements.
struct Spread {
  double low = 0;
  double median = 0;
  double high = 0;
};

/// REQUIRES: at least one value.
Spread spread_of(std::vector<double> values);

struct Throughput {
  std::string name;
  std::vector<double> images_per_second;  ///< of each repetition; at least one
  std::string inexactness = {};           ///< empty for an exact method

  Spread spread() const { return spread_of(images_per_second); }
};

/// Whether two runs cannot be told apart: the ranges of their repetitions overlap, or their medians
/// differ by less than 5 %.
bool within_noise(const Throughput& a, const Throughput& b);

/// The runs in the order of their throughput, fastest first. Runs of exact methods and of others
/// are ranked apart.
class Ranking {
 public:
  /// `noun` names an entry in the text: "method" or "run".
  Ranking(std::vector<Throughput> runs, std::string noun);

  const std::vector<Throughput>& exact() const { return exact_; }
  const std::vector<Throughput>& inexact() const { return inexact_; }
  /// The fastest exact run; nullptr if another one is within noise, or if there are no two.
  const Throughput* fastest() const;
  /// Which exact run is fastest, and whether one that is not exact is faster. Empty without runs.
  std::string text() const;

 private:
  std::string text_of(const std::vector<Throughput>& group, const std::string& noun) const;
  std::string on_inexact() const;

  std::string noun_;
  std::vector<Throughput> exact_;
  std::vector<Throughput> inexact_;
};

/// "1230 images/s (1200 to 1260 in 3 repetitions)".
std::string rate_text(const Throughput& run);

/// Times of the iterations of a run.
struct IterationTimes {
  std::string name;
  Distribution seconds;
  int averages_every = 1;  ///< local-sgd: steps between two averages of the weights
};

/// A mean that is this factor larger than the median, or smaller, is explained.
constexpr double kNearMedian = 1.2;

/// Names the runs whose mean and median differ by more than 20 %, and the cause. Empty if there are
/// none.
std::string explain_means(const std::vector<IterationTimes>& runs);

}  // namespace lockstep::internal::run
