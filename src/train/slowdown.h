// Ranks and loaders that are slow on purpose, to study what waits for them.
#pragma once

#include <chrono>
#include <string>

namespace lockstep::train {

/// One rank whose every forward takes longer. It sleeps, so that it takes no core from the others.
struct Slowdown {
  int rank = -1;
  std::chrono::duration<double> time{0};

  /// "1:20": rank 1, by 20 milliseconds; an empty text slows nobody. Throws UsageError.
  static Slowdown parse(const std::string& text);

  /// Sleeps if it is this rank that is slow.
  void suffer(int my_rank) const;
};

}  // namespace lockstep::train
