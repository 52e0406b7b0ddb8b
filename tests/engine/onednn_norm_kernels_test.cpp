// Batch norm's kernels agree with their definitions, and with each other to the bit.
#include "base/random.h"
#include "base/vector_unit.h"
#include "engine/onednn/kernels/norm_kernels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

namespace lockstep::internal::engine::onednn {
namespace {

/// Products and sums of a few numbers of about 1, each rounded to float32.
constexpr double kRounding = 2e-6;

std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(2 * random.uniform() - 1);
  return values;
}

/// The inputs and outputs of a kernel.
struct Passes {
  Passes(const NormKernels& kernels, const NormShape& shape, bool relu)
      : shape(shape),
        terms{origin.data(), scale.data(), shift.data(), relu},
        gradient_terms{of_gradient.data(), of_value.data(), back_shift.data()} {
    std::vector<double> parts(kNormParts * deviation_sums.size());
    kernels.deviation_sums(input.data(), {deviation_sums.data(), parts.data()}, shape);
    kernels.normalise(input.data(), output.data(), terms, shape);
    kernels.gradient_sums(input.data(), gradient.data(), terms, {sums.data(), parts.data()}, shape);
    kernels.input_gradient(input.data(), gradient.data(), back.data(), terms, gradient_terms,
                           shape);
  }

  /// The offset of a value.
  std::size_t at(std::size_t sample, std::size_t pixel, std::size_t channel) const {
    return (sample * shape.planes + channel / shape.block) * shape.plane() + pixel * shape.block +
           channel % shape.block;
  }

  const NormShape shape;
  const std::size_t count = shape.samples * shape.planes * shape.plane();
  const std::vector<float> input = random_floats(count, 1), gradient = random_floats(count, 2);
  const std::vector<float> origin = random_floats(shape.channels(), 3);
  const std::vector<float> scale = random_floats(shape.channels(), 4);
  const std::vector<float> shift = random_floats(shape.channels(), 5);
  const std::vector<float> of_gradient = random_floats(shape.channels(), 6);
  const std::vector<float> of_value = random_floats(shape.channels(), 7);
  const std::vector<float> back_shift = random_floats(shape.channels(), 8);
  const NormTerms terms;
  const NormGradientTerms gradient_terms;
  std::vector<double> deviation_sums = std::vector<double>(2 * shape.channels());
  std::vector<double> sums = deviation_sums;
  std::vector<float> output = std::vector<float>(count, 9.0f), back = output;
};

void expect_channel(const Passes& passes, std::size_t channel) {
  double deviation_sums[2] = {}, sums[2] = {};
  for (std::size_t sample = 0; sample < passes.shape.samples; ++sample)
    for (std::size_t pixel = 0; pixel < passes.shape.pixels; ++pixel) {
      const std::size_t i = passes.at(sample, pixel, channel);
      const double apart = double{passes.input[i]} - passes.input[passes.at(0, 0, channel)];
      deviation_sums[0] += apart;
      deviation_sums[1] += apart * apart;
      const double difference = double{passes.input[i]} - passes.origin[channel];
      const double normalised = difference * passes.scale[channel] + passes.shift[channel];
      const bool cut = passes.terms.relu && normalised <= 0;
      const double passed = cut ? 0 : passes.gradient[i];
      sums[0] += passed;
      sums[1] += passed * difference;
      ASSERT_NEAR(passes.output[i], cut ? 0 : normalised, kRounding);
      ASSERT_NEAR(passes.back[i],
                  passed * passes.of_gradient[channel] + difference * passes.of_value[channel] +
                      passes.back_shift[channel],
                  kRounding);
    }
  const double values = static_cast<double>(passes.shape.samples * passes.shape.pixels);
  for (const std::size_t i : {0u, 1u}) {
    ASSERT_NEAR(passes.deviation_sums[i * passes.shape.channels() + channel], deviation_sums[i],
                kRounding * values);
    ASSERT_NEAR(passes.sums[i * passes.shape.channels() + channel], sums[i], kRounding * values);
  }
}

/// Maps of one pixel, shorter than a vector, of several vectors and a rest; more samples than
/// partial sums, and fewer.
std::vector<NormShape> shapes() {
  std::vector<NormShape> all;
  for (const std::size_t block : {1u, 8u, 16u})
    for (const std::size_t pixels : {1u, 7u, 8u, 21u})
      for (const std::size_t samples : {1u, 3u, 11u}) all.push_back({samples, 3, pixels, block});
  return all;
}

TEST(OnednnNormKernels, AgreeWithTheirDefinitions) {
  for (const NormShape& shape : shapes())
    for (const bool relu : {false, true}) {
      SCOPED_TRACE(fmt::format("{} samples of {} pixels in blocks of {}, ReLU {}", shape.samples,
                               shape.pixels, shape.block, relu));
      const Passes passes(norm_kernels(), shape, relu);
      for (std::size_t channel = 0; channel < shape.channels(); ++channel)
        expect_channel(passes, channel);
    }
}

TEST(OnednnNormKernels, AreTheSameToTheBitOnEveryVectorUnit) {
  for (const NormShape& shape : shapes())
    for (const bool relu : {false, true}) {
      const Passes best(norm_kernels(), shape, relu);
      for (VectorUnit unit : vector_units()) {
        const Passes other(norm_kernels_for(unit), shape, relu);
        EXPECT_EQ(other.deviation_sums, best.deviation_sums) << name_of(unit);
        EXPECT_EQ(other.output, best.output) << name_of(unit);
        EXPECT_EQ(other.sums, best.sums) << name_of(unit);
        EXPECT_EQ(other.back, best.back) << name_of(unit);
      }
    }
}

}  // namespace
}  // namespace lockstep::internal::engine::onednn
