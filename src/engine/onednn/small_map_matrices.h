// How a 3×3 convolution on a small map, with padding 1, gets by with fewer multiplications. In one
// dimension, with the matrices input, weights and output of SmallMap,
//
//   output = outputᵀ · (weights · kernel ⊙ input · map)
//
// where ⊙ multiplies number by number. What it multiplies are called points: there are fewer of
// them than products by the definition. In two dimensions the matrices apply to columns and rows.
// Backward uses the same matrices the other way:
//
//   gradient of the map    = inputᵀ · (weights · kernel ⊙ output · gradient)
//   gradient of the kernel = weightsᵀ · (input · map ⊙ output · gradient)
#pragma once

#include <array>
#include <cstddef>

namespace lockstep::engine::onednn {

template <std::size_t rows, std::size_t columns>
using Matrix = std::array<std::array<float, columns>, rows>;

template <std::size_t rows, std::size_t columns>
constexpr Matrix<columns, rows> transposed(const Matrix<rows, columns>& matrix) {
  Matrix<columns, rows> result{};
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      result[column][row] = matrix[row][column];
  return result;
}

template <std::size_t points, std::size_t size>
struct Matrices {
  Matrix<points, size> input;
  Matrix<points, 3> weights;
  Matrix<points, size> output;
};

/// y₀ = x₀w₁ + x₁w₂ and y₁ = x₀w₀ + x₁w₁ share (x₀ + x₁)w₁: 3 points for 4 products.
constexpr Matrices<3, 2> kMapOf2{.input = {{{1, 1}, {0, 1}, {1, 0}}},
                                 .weights = {{{0, 1, 0}, {0, -1, 1}, {1, -1, 0}}},
                                 .output = {{{1, 1}, {1, 0}, {0, 1}}}};

/// Winograd's F(4, 3): the values of polynomials at these places and at infinity. Exact in binary,
/// and with half the rounding errors of the usual 0, ±1, ±2.
constexpr std::array<double, 5> kPlaces{0, 0.625, -0.625, 1.5, -1.5};

/// The coefficients of ∏ (z − place) over all places but one.
constexpr std::array<double, 6> product_without(std::size_t left_out) {
  std::array<double, 6> product{1};
  for (std::size_t i = 0; i < kPlaces.size(); ++i) {
    if (i == left_out) continue;
    for (std::size_t power = 5; power > 0; --power)
      product[power] = product[power - 1] - kPlaces[i] * product[power];
    product[0] *= -kPlaces[i];
  }
  return product;
}

constexpr Matrices<6, 4> winograd_matrices() {
  constexpr std::size_t infinity = kPlaces.size();
  Matrices<6, 4> result{};
  for (std::size_t row = 0; row <= infinity; ++row) {
    const std::array<double, 6> product = product_without(row);
    const double place = row == infinity ? 0 : kPlaces[row];
    double scale = 0;
    for (std::size_t i = product.size(); i > 0; --i) scale = scale * place + product[i - 1];
    double power = 1;
    for (std::size_t i = 0; i < 4; ++i, power *= place) {
      result.input[row][i] = static_cast<float>(product[i + 1]);  // what padding meets is left out
      result.output[row][i] = static_cast<float>(row == infinity ? i == 3 : power);
      if (i < 3)
        result.weights[row][i] = static_cast<float>(row == infinity ? i == 2 : power / scale);
    }
  }
  return result;
}

constexpr Matrices<6, 4> kMapOf4 = winograd_matrices();

/// `size`: height and width, 2 or 4.
template <std::size_t size>
struct SmallMap {
  static constexpr auto kMatrices = [] {
    if constexpr (size == 2)
      return kMapOf2;
    else
      return kMapOf4;
  }();
  static constexpr auto kInput = kMatrices.input;
  static constexpr auto kInputBack = transposed(kInput);
  static constexpr auto kWeights = kMatrices.weights;
  static constexpr auto kWeightsBack = transposed(kWeights);
  static constexpr auto kOutput = kMatrices.output;
  static constexpr auto kOutputBack = transposed(kOutput);
  static constexpr std::size_t kPositions = size * size;
  static constexpr std::size_t kPoints = kInput.size() * kInput.size();
};

}  // namespace lockstep::engine::onednn
