// The option --slow: a deliberate delay of one rank.
#pragma once

#include <chrono>
#include <string>

namespace lockstep::internal::train {

struct Slowdown {
  int rank = -1;                          ///< the slow rank; -1 for none
  std::chrono::duration<double> time{0};  ///< added to each step

  /// "1:20": rank 1, by 20 milliseconds; empty: no rank. Throws UsageError.
  static Slowdown parse(const std::string& text);
};

}  // namespace lockstep::internal::train
