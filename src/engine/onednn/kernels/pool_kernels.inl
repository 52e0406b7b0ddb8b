// The loops of pool_kernels.h, written with the compiler's vector extensions.
#include "engine/onednn/kernels/pool_kernels.h"

#include <cstring>

namespace lockstep::internal::engine::onednn {

namespace {

/// The values of a pixel.
template <std::size_t block>
struct Pixel;

template <>
struct Pixel<16> {
  typedef float Values __attribute__((vector_size(64)));
  typedef std::int32_t Numbers __attribute__((vector_size(64)));
  typedef std::uint8_t Bytes __attribute__((vector_size(16)));
};

template <>
struct Pixel<8> {
  typedef float Values __attribute__((vector_size(32)));
  typedef std::int32_t Numbers __attribute__((vector_size(32)));
  typedef std::uint8_t Bytes __attribute__((vector_size(8)));
};

/// Writes to its argument, because the ABI of returning vectors depends on the vector unit.
template <typename Vector>
void load(Vector& vector, const void* from) {
  std::memcpy(&vector, from, sizeof vector);
}

/// Offsets of the four pixels of a window, from the first.
template <std::size_t block>
struct Corners {
  explicit Corners(std::size_t width) : at{0, block, 2 * width * block, (2 * width + 1) * block} {}
  std::size_t at[4];
};

template <std::size_t block>
void forward_row(const float* input, float* output, std::uint8_t* choices, std::size_t width) {
  using P = Pixel<block>;
  const Corners<block> corners(width);
  for (std::size_t x = 0; x < width; ++x, input += 2 * block, output += block) {
    typename P::Values largest, value;
    load(largest, input);
    typename P::Numbers which{};
    for (int i = 1; i < 4; ++i) {
      load(value, input + corners.at[i]);
      const typename P::Numbers larger = value > largest;
      largest = larger ? value : largest;
      which = larger ? typename P::Numbers{} + i : which;
    }
    std::memcpy(output, &largest, sizeof largest);
    if (!choices) continue;
    const auto bytes = __builtin_convertvector(which, typename P::Bytes);
    std::memcpy(choices, &bytes, sizeof bytes);
    choices += block;
  }
}

template <std::size_t block>
void backward_row(const float* gradient, const std::uint8_t* choices, float* input_gradient,
                  std::size_t width) {
  using P = Pixel<block>;
  const Corners<block> corners(width);
  for (std::size_t x = 0; x < width; ++x) {
    typename P::Values value;
    typename P::Bytes bytes;
    load(value, gradient);
    load(bytes, choices);
    const auto which = __builtin_convertvector(bytes, typename P::Numbers);
    for (int i = 0; i < 4; ++i) {
      const typename P::Values part = which == i ? value : typename P::Values{};
      std::memcpy(input_gradient + corners.at[i], &part, sizeof part);
    }
    gradient += block;
    choices += block;
    input_gradient += 2 * block;
  }
}

/// Calls row(i) for every row of windows, on oneDNN's threads.
template <typename Row>
void for_each_row(const PooledShape& shape, const Row& row) {
  const std::size_t rows = shape.planes * shape.height;
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < rows; ++i) row(i);
}

void forward(const float* input, float* output, std::uint8_t* choices, const PooledShape& shape) {
  const std::size_t length = shape.width * shape.block;
  for_each_row(shape, [&](std::size_t i) {
    const auto run = shape.block == 16 ? forward_row<16> : forward_row<8>;
    run(input + 4 * i * length, output + i * length, choices ? choices + i * length : nullptr,
        shape.width);
  });
}

void backward(const float* gradient, const std::uint8_t* choices, float* input_gradient,
              const PooledShape& shape) {
  const std::size_t length = shape.width * shape.block;
  for_each_row(shape, [&](std::size_t i) {
    const auto run = shape.block == 16 ? backward_row<16> : backward_row<8>;
    run(gradient + i * length, choices + i * length, input_gradient + 4 * i * length, shape.width);
  });
}

}  // namespace

}  // namespace lockstep::internal::engine::onednn
