// Our max pool agrees with its definition, in every version to the bit.
#include "base/random.h"
#include "base/vector_unit.h"
#include "engine/onednn/kernels/pool_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace lockstep::internal::engine::onednn {
namespace {

std::vector<const PoolKernels*> runnable_pools() {
  std::vector<const PoolKernels*> all;
  for (VectorUnit unit : vector_units()) all.push_back(&pool_kernels_for(unit));
  return all;
}

/// Few different values, so that windows have equal ones.
std::vector<float> random_values(std::size_t count) {
  Random random(5);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.below(7)) - 3;
  return values;
}

/// The offsets of the four values of a window.
std::vector<std::size_t> window(const PooledShape& shape, std::size_t plane, std::size_t y,
                                std::size_t x, std::size_t channel) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t row = plane * 2 * shape.height + 2 * y + i / 2;
    places.push_back((row * 2 * shape.width + 2 * x + i % 2) * shape.block + channel);
  }
  return places;
}

void expect_pools(const PoolKernels& kernels, const PooledShape& shape) {
  const std::size_t count = shape.planes * shape.height * shape.width * shape.block;
  const std::vector<float> input = random_values(4 * count);
  const std::vector<float> gradient = random_values(count);
  std::vector<float> output(count), alone(count), back(4 * count, 9.0f);
  std::vector<std::uint8_t> choices(count);
  kernels.forward(input.data(), output.data(), choices.data(), shape);
  kernels.forward(input.data(), alone.data(), nullptr, shape);
  kernels.backward(gradient.data(), choices.data(), back.data(), shape);
  EXPECT_EQ(alone, output);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t channel = i % shape.block;
    const std::size_t pixel = i / shape.block;
    const auto places = window(shape, pixel / shape.width / shape.height,
                               pixel / shape.width % shape.height, pixel % shape.width, channel);
    const auto largest =
        std::ranges::max_element(places, {}, [&](std::size_t place) { return input[place]; });
    ASSERT_EQ(output[i], input[*largest]) << kernels.name << " " << i;
    for (std::size_t place : places)
      ASSERT_EQ(back[place], place == *largest ? gradient[i] : 0) << kernels.name << " " << i;
  }
}

TEST(OnednnPoolKernels, ChooseTheFirstMaximumAndSendGradientsThere) {
  for (const PoolKernels* kernels : runnable_pools())
    for (const std::size_t block : {8u, 16u})
      for (const std::size_t width : {1u, 2u, 5u})
        expect_pools(*kernels, {.planes = 3, .height = 3, .width = width, .block = block});
}

}  // namespace
}  // namespace lockstep::internal::engine::onednn
