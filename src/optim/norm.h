// The Euclidean norm of a long array, summed in double in one fixed order that depends neither on
// threads nor on vector units.
#pragma once

#include "optim/blocks.h"

#include <array>
#include <cmath>
#include <span>

namespace lockstep::internal::optim {

/// The sum of term(i)² over `count` values of i from `begin` on. Uses eight independent sums,
/// because each addition waits for the previous one.
template <typename Term>
double sum_of_squares(std::size_t begin, std::size_t count, Term term) {
  return sum_over_blocks(begin, count, [&](std::size_t from, std::size_t size) {
    constexpr std::size_t kLanes = 8;
    std::array<double, kLanes> sums{};
    for (std::size_t i = 0; i + kLanes <= size; i += kLanes)
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const double value = term(from + i + lane);
        sums[lane] += value * value;
      }
    for (std::size_t i = size - size % kLanes; i < size; ++i) {
      const double value = term(from + i);
      sums[i % kLanes] += value * value;
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  });
}

template <typename T>
double sum_of_squares(std::span<const T> values) {
  return sum_of_squares(0, values.size(),
                        [&](std::size_t i) { return static_cast<double>(values[i]); });
}

template <typename T>
double norm(std::span<const T> values) {
  return std::sqrt(sum_of_squares(values));
}

}  // namespace lockstep::internal::optim
