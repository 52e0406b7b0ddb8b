// The matrices of tile_matrices.h applied to vectors: 16 channels or images at once. Written with
// the compiler's vector extensions.
#pragma once

#include "engine/onednn/kernels/tile_matrices.h"
#include "engine/onednn/kernels/tile_stack.h"

#include <utility>

namespace lockstep::internal::engine::onednn {

namespace {

typedef float Vector __attribute__((vector_size(4 * kBlock)));

/// A vector without alignment.
typedef Vector Place __attribute__((aligned(4), may_alias));

const Place& at(const float* place) {
  return *reinterpret_cast<const Place*>(place);
}
Place& at(float* place) {
  return *reinterpret_cast<Place*>(place);
}

/// Calls body with 0 … count − 1 as compile-time constants.
template <std::size_t count, typename Body>
void for_constants(const Body& body) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (body(std::integral_constant<std::size_t, i>()), ...);
  }
  (std::make_index_sequence<count>());
}

/// The first column of a row with a value other than zero.
template <std::size_t columns>
constexpr std::size_t first_of(const std::array<float, columns>& row) {
  std::size_t first = 0;
  while (row[first] == 0) ++first;
  return first;
}

/// to[row · to_stride] = Σ matrix[row][column] · from[column · from_stride]. Zeros cost nothing.
template <const auto& matrix, std::size_t from_stride, std::size_t to_stride>
void apply_to_line(const Vector* from, Vector* to) {
  for_constants<matrix.size()>([&](auto row) {
    constexpr std::size_t first = first_of(matrix[row]);
    Vector sum = matrix[row][first] * from[first * from_stride];
    for_constants<matrix[0].size()>([&](auto column) {
      constexpr float factor = column > first ? matrix[row][column] : 0;
      if constexpr (factor != 0) sum += factor * from[column * from_stride];
    });
    to[row * to_stride] = sum;
  });
}

/// matrix · from · matrixᵀ for square matrices of vectors. The caller must be `flatten`, so that
/// all values stay in registers.
template <const auto& matrix>
void apply(const Vector* from, Vector* to) {
  constexpr std::size_t rows = matrix.size();
  constexpr std::size_t columns = matrix[0].size();
  Vector half[rows * columns];
  for_constants<columns>(
      [&](auto column) { apply_to_line<matrix, columns, columns>(from + column, half + column); });
  for_constants<rows>(
      [&](auto row) { apply_to_line<matrix, 1, 1>(half + row * columns, to + row * rows); });
}

/// apply() on vectors in memory with these strides; `adds` to the result that is there.
template <const auto& matrix>
[[gnu::flatten]] void apply_in_memory(const float* from, std::size_t from_stride, float* to,
                                      std::size_t to_stride, bool adds = false) {
  constexpr std::size_t ins = matrix[0].size() * matrix[0].size();
  constexpr std::size_t outs = matrix.size() * matrix.size();
  Vector in[ins], out[outs];
  for_constants<ins>([&](auto i) { in[i] = at(from + i * from_stride); });
  apply<matrix>(in, out);
  if (adds) for_constants<outs>([&](auto i) { out[i] += at(to + i * to_stride); });
  for_constants<outs>([&](auto i) { at(to + i * to_stride) = out[i]; });
}

/// Transposes 16×16 numbers: by halves, recursively.
[[gnu::flatten]] void transpose(Vector* rows) {
  typedef int Choice __attribute__((vector_size(4 * kBlock)));
  for_constants<4>([&](auto step) {
    constexpr int distance = 8 >> step;
    Choice upper, lower;  // numbers of two rows, the second's from 16 on
    for (int i = 0; i < static_cast<int>(kBlock); ++i) {
      upper[i] = i & distance ? static_cast<int>(kBlock) + i - distance : i;
      lower[i] = upper[i] + distance;
    }
    for (std::size_t i = 0; i < kBlock; ++i) {
      if (i & distance) continue;
      const Vector first = rows[i];
      rows[i] = __builtin_shuffle(first, rows[i + distance], upper);
      rows[i + distance] = __builtin_shuffle(first, rows[i + distance], lower);
    }
  });
}

}  // namespace

}  // namespace lockstep::internal::engine::onednn
