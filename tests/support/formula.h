// Numbers that follow a formula, so that tests and PyTorch use the same ones without a shared file;
// and digests of tensors that are too large to store. tests/reference/formula.py describes both and
// has the Python versions.
#pragma once

#include "base/random.h"
#include "data/images.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <span>

namespace lockstep::internal::testing {

inline data::Images formula_images(std::uint64_t seed, std::size_t count,
                                   const data::ImageShape& shape) {
  constexpr int kClasses = 10;
  data::Images images{shape, kClasses, {}, {}};
  for (std::uint64_t i = 0; i < count * shape.pixels(); ++i)
    images.pixels.push_back(static_cast<std::uint8_t>(Random((seed << 32) + i).next() >> 56));
  for (std::size_t j = 0; j < count; ++j)
    images.labels.push_back(static_cast<std::uint8_t>(j % kClasses));
  return images;
}

/// The norm of a tensor, and its products with vectors of random signs. If d is the difference of
/// two tensors, its product with such a vector has mean 0 and variance |d|²: the mean square over
/// all vectors is an estimate of |d|².
struct Digest {
  double norm = 0;
  std::array<double, 8> projections{};
};

template <typename T>
Digest digest_of(std::span<const T> values) {
  Digest digest;
  double squares = 0;
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<double>(values[i]);
    squares += value * value;
    const std::uint64_t signs = Random((std::uint64_t{1} << 63) + i).next();
    for (std::size_t k = 0; k < digest.projections.size(); ++k)
      digest.projections[k] += (signs >> k & 1) != 0 ? value : -value;
  }
  digest.norm = std::sqrt(squares);
  return digest;
}

/// An estimate of |a − b|: it is less than half of the true value in 2 cases of 100, less than a
/// quarter in 2 of 10,000, and 0 practically only if a = b.
inline double distance(const Digest& a, const Digest& b) {
  double squares = 0;
  for (std::size_t k = 0; k < a.projections.size(); ++k)
    squares += (a.projections[k] - b.projections[k]) * (a.projections[k] - b.projections[k]);
  return std::sqrt(squares / static_cast<double>(a.projections.size()));
}

}  // namespace lockstep::internal::testing
