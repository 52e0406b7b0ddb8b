// The product of two matrices, one tile at a time: as many rows and vectors as fit the registers.
#pragma once

#include "engine/onednn/kernels/tile_vectors.inl"

namespace lockstep::internal::engine::onednn {

namespace {

/// The layout of the left matrix, in blocks of 16×16.
enum class Left {
  by_depth,  ///< the 16 rows of each depth side by side
  by_row     ///< the 16 depths of each row side by side
};

/// Memory to prefetch.
struct Soon {
  const float* begin = nullptr;
  std::size_t floats = 0;

  /// The part for these rows, of 16.
  Soon part(std::size_t first, std::size_t rows) const {
    return {begin + floats * first / kBlock, floats * rows / kBlock};
  }
};

/// result[row][…] (+)= Σ left[row][depth] · right[depth][…]. The rows of the right matrix and of
/// the result have `vectors` vectors.
template <Left left_is, std::size_t rows, std::size_t vectors>
void multiply_tile(const float* left, const float* right, float* result, std::size_t depth,
                   bool adds, const Soon& soon) {
  constexpr std::size_t row_stride = left_is == Left::by_depth ? 1 : kBlock;
  Vector sums[rows][vectors] = {};
  const std::size_t step = (soon.floats + depth - 1) / depth;
  for (std::size_t k = 0; k < depth; ++k) {
    __builtin_prefetch(soon.begin + k * step, 0, 2);
#pragma GCC unroll 8
    for (std::size_t row = 0; row < rows; ++row)
#pragma GCC unroll 4
      for (std::size_t i = 0; i < vectors; ++i)
        sums[row][i] += left[row * row_stride] * at(right + i * kBlock);
    right += vectors * kBlock;
    if constexpr (left_is == Left::by_depth)
      left += kBlock;
    else
      left += k % kBlock + 1 < kBlock ? 1 : kSquare - kBlock + 1;
  }
#pragma GCC unroll 8
  for (std::size_t row = 0; row < rows; ++row)
#pragma GCC unroll 4
    for (std::size_t i = 0; i < vectors; ++i) {
      Place& place = at(result + (row * vectors + i) * kBlock);
      place = adds ? place + sums[row][i] : sums[row][i];
    }
}

/// 16 rows, in tiles that leave registers for the operands.
template <Left left_is, std::size_t vectors>
void multiply_block(const float* left, const float* right, float* result, std::size_t depth,
                    bool adds, const Soon& soon) {
  auto tile = [&]<std::size_t first, std::size_t rows>() {
    multiply_tile<left_is, rows, vectors>(left + first * (left_is == Left::by_depth ? 1 : kBlock),
                                          right, result + first * vectors * kBlock, depth, adds,
                                          soon.part(first, rows));
  };
  if constexpr (vectors == 4) {
    tile.template operator()<0, 6>();
    tile.template operator()<6, 5>();
    tile.template operator()<11, 5>();
  } else {
    tile.template operator()<0, 8>();
    tile.template operator()<8, 8>();
  }
}

/// The same for 16, 32, 48 or 64 lanes.
template <Left left_is>
void multiply(const float* left, const float* right, float* result, std::size_t depth,
              std::size_t lanes, bool adds, const Soon& soon) {
  constexpr void (*by_vectors[])(const float*, const float*, float*, std::size_t, bool,
                                 const Soon&) = {
      multiply_block<left_is, 1>, multiply_block<left_is, 2>, multiply_block<left_is, 3>,
      multiply_block<left_is, 4>};
  by_vectors[lanes / kBlock - 1](left, right, result, depth, adds, soon);
}

}  // namespace

}  // namespace lockstep::internal::engine::onednn
