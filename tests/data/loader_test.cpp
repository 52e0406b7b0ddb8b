#include "data/loader.h"

#include <lockstep/error.h>

#include "data/mnist.h"
#include "data_files.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <vector>

namespace lockstep::internal::data {
namespace {

/// Pixel p of image i is p + 10 i, its label i.
std::shared_ptr<const Images> numbered_images(std::size_t count, const ImageShape& shape) {
  auto images = std::make_shared<Images>();
  images->shape = shape;
  images->classes = 10;
  for (std::size_t i = 0; i < count; ++i) {
    images->labels.push_back(static_cast<std::uint8_t>(i));
    for (std::size_t p = 0; p < shape.pixels(); ++p)
      images->pixels.push_back(static_cast<std::uint8_t>(p + 10 * i));
  }
  return images;
}

// Maps byte b to b / 255.
const Normalisation kPlain{.mean = {0.0f}, .deviation = {1.0f}};

Batch load(const Loader& loader, const std::vector<std::uint32_t>& indices) {
  Batch batch;
  loader.load(indices, batch);
  return batch;
}

TEST(Loader, PicksImagesInTheOrderAsked) {
  const Loader loader(numbered_images(4, {1, 1, 2}), kPlain, 0);
  const Batch batch = load(loader, {3, 0, 3});
  EXPECT_EQ(batch.size(), 3u);
  EXPECT_EQ(batch.labels, (std::vector<std::int64_t>{3, 0, 3}));
  EXPECT_EQ(batch.pixels, (std::vector<float>{30 / 255.0f, 31 / 255.0f, 0, 1 / 255.0f, 30 / 255.0f,
                                              31 / 255.0f}));
}

TEST(Loader, NormalisesEachChannelSeparately) {
  const Loader loader(numbered_images(1, {2, 1, 2}),
                      {.mean = {0.5f, 0.25f}, .deviation = {0.5f, 2.0f}}, 0);
  const Batch batch = load(loader, {0});
  EXPECT_EQ(batch.pixels, (std::vector<float>{
                              (0.0f - 0.5f) / 0.5f,
                              (1 / 255.0f - 0.5f) / 0.5f,
                              (2 / 255.0f - 0.25f) / 2.0f,
                              (3 / 255.0f - 0.25f) / 2.0f,
                          }));
}

TEST(Loader, PadsWithZerosAfterNormalising) {
  const Loader loader(numbered_images(1, {2, 1, 2}),
                      {.mean = {1.0f, 1.0f}, .deviation = {1.0f, 1.0f}}, 1);
  EXPECT_EQ(loader.shape(), (ImageShape{2, 3, 4}));
  const auto value = [](int byte) { return static_cast<float>(byte) / 255.0f - 1.0f; };
  const std::vector<float> expected = {
      0, 0,        0,        0,  //
      0, value(0), value(1), 0,  //
      0, 0,        0,        0,  //
      0, 0,        0,        0,  //
      0, value(2), value(3), 0,  //
      0, 0,        0,        0,  //
  };
  EXPECT_EQ(load(loader, {0}).pixels, expected);
}

TEST(Loader, ReplacesTheContentOfTheBatch) {
  const Loader loader(numbered_images(3, {1, 2, 2}), kPlain, 2);
  Batch batch;
  batch.pixels.assign(1000, std::numeric_limits<float>::quiet_NaN());
  batch.labels.assign(50, -1);
  const float* memory = batch.pixels.data();
  loader.load(std::vector<std::uint32_t>{1, 2}, batch);
  EXPECT_EQ(batch.pixels, load(loader, {1, 2}).pixels);
  EXPECT_EQ(batch.labels, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(batch.pixels.data(), memory) << "memory was not reused";
}

TEST(Loader, LoadsNothingIntoAnEmptyBatch) {
  const Loader loader(numbered_images(1, {1, 1, 1}), kPlain, 0);
  const Batch batch = load(loader, {});
  EXPECT_EQ(batch.size(), 0u);
  EXPECT_TRUE(batch.pixels.empty());
}

TEST(Loader, MakesMnist32By32) {
  const auto images = std::make_shared<const Images>(
      read_mnist(std::filesystem::path(LOCKSTEP_TEST_DATA) / "mnist", Split::train));
  const Loader loader(images, mnist_normalisation(), kMnistPadding);
  EXPECT_EQ(loader.shape(), (ImageShape{1, 32, 32}));

  std::vector<std::uint32_t> all(images->size());
  std::iota(all.begin(), all.end(), 0u);
  const Batch batch = load(loader, all);
  EXPECT_EQ(batch.pixels[0], 0.0f);
  EXPECT_EQ(batch.pixels[2 * 32 + 2], (0.0f - 0.1307f) / 0.3081f);
  EXPECT_EQ(batch.pixels[7 * 32 + 23], (1.0f - 0.1307f) / 0.3081f);
  EXPECT_EQ(batch.labels[0], 5);
  // With the full set's mean, a tenth of the set has a mean close to 0.
  const double sum = std::accumulate(batch.pixels.begin(), batch.pixels.end(), 0.0);
  EXPECT_NEAR(sum / (6000.0 * 784.0), 0.0, 0.02);
}

TEST(Loader, RefusesANormalisationOfOtherChannels) {
  const auto images = numbered_images(1, {3, 1, 1});
  expect_error<UsageError>([&] { Loader(images, kPlain, 0); },
                           {"1 means and 1 deviations cannot normalise images of 3 channels",
                            "give one of each for every channel"});
}

TEST(Loader, RefusesADeviationThatIsNotPositive) {
  const auto images = numbered_images(1, {1, 1, 1});
  for (float deviation : {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN()})
    expect_error<UsageError>([&] { Loader(images, {.mean = {0.0f}, .deviation = {deviation}}, 0); },
                             {"cannot normalise by a deviation of", "it must be above 0"});
}

TEST(Loader, RefusesNegativePadding) {
  expect_error<UsageError>(
      [&] {
        Loader(numbered_images(1, {1, 1, 1}), kPlain, -1);
      },
      {"cannot pad images by -1 pixels: it must be 0 or more"});
}

TEST(Loader, ChecksTheIndices) {
  const Loader loader(numbered_images(2, {1, 1, 1}), kPlain, 0);
  expect_error<InternalError>([&] { load(loader, {0, 2}); }, {"image 2 of a set of 2"});
}

}  // namespace
}  // namespace lockstep::internal::data
