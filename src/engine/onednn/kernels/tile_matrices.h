// A 3×3 convolution of a tile with fewer multiplications. In one dimension, with the matrices of
// Tile,
//
//   tile = outputᵀ · (weights · kernel ⊙ input · window)
//
// where ⊙ multiplies element by element and the window is the input of the tile's outputs. The
// factors of ⊙ are called points: there are fewer of them than products in the definition. In two
// dimensions the matrices apply to columns and to rows. Backward,
//
//   gradient of a tile of the input: the same with the kernel rotated by 180°
//   gradient of the kernel = weightsᵀ · (input · window ⊙ output · gradient of the tile)
#pragma once

#include <array>
#include <cstddef>

namespace lockstep::internal::engine::onednn {

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

/// Reverses the columns.
template <std::size_t rows>
constexpr Matrix<rows, 3> turned(const Matrix<rows, 3>& matrix) {
  Matrix<rows, 3> result{};
  for (std::size_t row = 0; row < rows; ++row)
    result[row] = {matrix[row][2], matrix[row][1], matrix[row][0]};
  return result;
}

template <std::size_t points, std::size_t window, std::size_t tile>
struct Matrices {
  Matrix<points, window> input;
  Matrix<points, 3> weights;
  Matrix<points, tile> output;
};

/// A whole map of 2×2. The window leaves out the padding around it:
/// y₀ = x₀w₁ + x₁w₂ and y₁ = x₀w₀ + x₁w₁ have (x₀ + x₁)w₁ in common: 3 points for 4 products.
constexpr Matrices<3, 2, 2> kWholeMapOf2{.input = {{{1, 1}, {0, 1}, {1, 0}}},
                                         .weights = {{{0, 1, 0}, {0, -1, 1}, {1, -1, 0}}},
                                         .output = {{{1, 1}, {1, 0}, {0, 1}}}};

/// Winograd's F(4, 3): the values of polynomials at these points and at infinity. Exact in binary,
/// with half the rounding errors of the usual 0, ±1, ±2.
constexpr std::array<double, 5> kPlaces{0, 0.625, -0.625, 1.5, -1.5};

/// The coefficients of ∏ (z − point) over all points but one.
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

constexpr Matrices<6, 6, 4> winograd_matrices() {
  constexpr std::size_t infinity = kPlaces.size();
  Matrices<6, 6, 4> result{};
  for (std::size_t row = 0; row <= infinity; ++row) {
    const std::array<double, 6> product = product_without(row);
    const double place = row == infinity ? 0 : kPlaces[row];
    double scale = 0;
    for (std::size_t i = 6; i > 0; --i) scale = scale * place + product[i - 1];
    double power = 1;
    for (std::size_t i = 0; i < 6; ++i, power *= place) {
      result.input[row][i] = static_cast<float>(product[i]);
      if (i < 3)
        result.weights[row][i] = static_cast<float>(row == infinity ? i == 2 : power / scale);
      if (i < 4) result.output[row][i] = static_cast<float>(row == infinity ? i == 3 : power);
    }
  }
  return result;
}

constexpr Matrices<6, 6, 4> kTileOf4 = winograd_matrices();

/// A whole map of 4×4, without its padding.
constexpr Matrices<6, 4, 4> whole_map_of_4() {
  Matrices<6, 4, 4> result{{}, kTileOf4.weights, kTileOf4.output};
  for (std::size_t row = 0; row < 6; ++row)
    for (std::size_t i = 0; i < 4; ++i) result.input[row][i] = kTileOf4.input[row][i + 1];
  return result;
}

constexpr Matrices<6, 4, 4> kWholeMapOf4 = whole_map_of_4();

template <const auto& matrices>
struct Tile {
  static constexpr auto kInput = matrices.input;
  static constexpr auto kWeights = matrices.weights;
  static constexpr auto kWeightsTurned = turned(kWeights);
  static constexpr auto kWeightsBack = transposed(kWeights);
  static constexpr auto kOutput = matrices.output;
  static constexpr auto kOutputBack = transposed(kOutput);
  static constexpr std::size_t kWindow = kInput[0].size();       ///< side of the window
  static constexpr std::size_t kSize = kOutput[0].size();        ///< side of the tile
  static constexpr std::size_t kMargin = (kWindow - kSize) / 2;  ///< of the window around the tile
  static constexpr std::size_t kPoints = kInput.size() * kInput.size();
};

}  // namespace lockstep::internal::engine::onednn
