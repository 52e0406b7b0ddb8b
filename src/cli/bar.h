// The progress bar on a terminal.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep::internal::cli {

/// `done` of `total` as a bar of 30 characters. REQUIRES: done <= total, total > 0.
inline std::string bar_of(std::uint64_t done, std::uint64_t total) {
  constexpr std::uint64_t kWidth = 30;
  const std::uint64_t filled = kWidth * done / total;
  std::string bar;
  for (std::uint64_t i = 0; i < kWidth; ++i) bar += i < filled ? "━" : "─";
  return bar;
}

}  // namespace lockstep::internal::cli
