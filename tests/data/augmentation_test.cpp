#include "data/augmentation.h"

#include <lockstep/error.h>

#include "data/loader.h"
#include "data_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace lockstep::internal::data {
namespace {

constexpr ImageShape kShape{2, 3, 4};
const Normalisation kNormal{.mean = {0.5f, 0.25f}, .deviation = {0.5f, 2.0f}};

/// All bytes of all images differ.
std::shared_ptr<const Images> distinct_images(std::size_t count) {
  auto images = std::make_shared<Images>();
  images->shape = kShape;
  images->classes = 10;
  images->labels.assign(count, 1);
  images->pixels.resize(count * kShape.pixels());
  std::iota(images->pixels.begin(), images->pixels.end(), std::uint8_t{1});
  return images;
}

float normalised(int byte, int channel) {
  return (static_cast<float>(byte) / 255.0f - kNormal.mean[static_cast<std::size_t>(channel)]) /
         kNormal.deviation[static_cast<std::size_t>(channel)];
}

/// A pixel by the definition of View.
float shown(const Images& images, std::uint32_t image, const View& view, int channel, int y,
            int x) {
  const int row = y + view.down;
  int column = x + view.right;
  if (row < 0 || row >= kShape.height || column < 0 || column >= kShape.width)
    return normalised(0, channel);
  if (view.mirrored) column = kShape.width - 1 - column;
  const auto offset = static_cast<std::size_t>((channel * kShape.height + row) * kShape.width) +
                      static_cast<std::size_t>(column);
  return normalised(images.pixels[image * kShape.pixels() + offset], channel);
}

TEST(Augmentation, ShowsImagesAsItsViewSays) {
  const auto images = distinct_images(8);
  const Augmentation augmentation{.shift = 5, .flip = true, .seed = 3};  // further than the image
  const Loader loader(images, kNormal, 0, augmentation);
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    const std::vector<std::uint32_t> order{5, 0, 7, 3};
    Batch batch;
    loader.load(order, batch, epoch);
    const float* pixel = batch.pixels.data();
    for (std::uint32_t image : order) {
      const View view = draw_view(augmentation, epoch, image);
      for (int channel = 0; channel < kShape.channels; ++channel)
        for (int y = 0; y < kShape.height; ++y)
          for (int x = 0; x < kShape.width; ++x)
            ASSERT_EQ(*pixel++, shown(*images, image, view, channel, y, x))
                << "image " << image << " epoch " << epoch;
    }
  }
}

TEST(Augmentation, LeavesTheBorderOfPaddingAlone) {
  const Loader loader(distinct_images(1), kNormal, 1, Augmentation{.shift = 1});
  Batch batch;
  loader.load(std::vector<std::uint32_t>{0}, batch, 1);
  ASSERT_EQ(loader.shape(), (ImageShape{2, 5, 6}));
  for (std::size_t x = 0; x < 6; ++x) EXPECT_EQ(batch.pixels[x], 0.0f);
}

TEST(Augmentation, DependsOnSeedEpochAndImageAlone) {
  const Augmentation augmentation{};
  EXPECT_EQ(draw_view(augmentation, 3, 17), draw_view(augmentation, 3, 17));
  std::set<std::tuple<int, int, bool>> by_epoch;
  std::set<std::tuple<int, int, bool>> by_image;
  std::set<std::tuple<int, int, bool>> by_seed;
  for (std::uint32_t i = 0; i < 50; ++i) {
    const auto add = [](auto& set, const View& view) {
      set.insert({view.down, view.right, view.mirrored});
    };
    add(by_epoch, draw_view(augmentation, i, 0));
    add(by_image, draw_view(augmentation, 0, i));
    add(by_seed, draw_view({.seed = i}, 0, 0));
  }
  EXPECT_GT(by_epoch.size(), 25u);
  EXPECT_GT(by_image.size(), 25u);
  EXPECT_GT(by_seed.size(), 25u);
}

TEST(Augmentation, IsTheSameOnEveryMachine) {
  const View view = draw_view({.shift = 4, .flip = true, .seed = 5000}, 1, 2);
  const View other = draw_view({.shift = 4, .flip = true, .seed = 5000}, 7, 49'999);
  EXPECT_EQ(view, (View{-1, -3, false}));
  EXPECT_EQ(other, (View{-2, 3, false}));
}

// Each of 9 × 9 × 2 views is equally likely: chi-squared with 161 degrees of freedom exceeds 230
// once in 3000 seeds; this seed is not one of them.
TEST(Augmentation, DrawsAllViewsEquallyOften) {
  constexpr int kDraws = 81'000;
  std::map<std::tuple<int, int, bool>, int> counts;
  for (std::uint32_t image = 0; image < kDraws; ++image) {
    const View view = draw_view({}, 1, image);
    ++counts[{view.down, view.right, view.mirrored}];
  }
  ASSERT_EQ(counts.size(), 162u);
  double chi_squared = 0;
  for (const auto& [view, count] : counts) chi_squared += std::pow(count - 500, 2) / 500.0;
  EXPECT_LT(chi_squared, 230);
}

TEST(Augmentation, CanShiftOrFlipAlone) {
  for (std::uint32_t image = 0; image < 50; ++image) {
    EXPECT_FALSE(draw_view({.flip = false}, 0, image).mirrored);
    EXPECT_EQ(draw_view({.shift = 0}, 0, image).down, 0);
  }
}

TEST(Augmentation, RefusesANegativeShift) {
  expect_error<UsageError>(
      [] { Loader(distinct_images(1), kNormal, 0, Augmentation{.shift = -1}); },
      {"cannot shift images by up to -1 pixels"});
}

}  // namespace
}  // namespace lockstep::internal::data
