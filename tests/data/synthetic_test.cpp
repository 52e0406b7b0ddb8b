#include "data/synthetic.h"

#include <lockstep/error.h>

#include "base/hash/sha256.h"
#include "support/errors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace lockstep::internal::data {
namespace {

using testing::expect_error;

SyntheticOptions small() {
  return {.shape = {2, 9, 7}, .classes = 4, .train = 41, .test = 13, .seed = 7};
}

std::string digest(const Images& images) {
  Sha256 sha;
  sha.update(images.labels.data(), images.labels.size());
  sha.update(images.pixels.data(), images.pixels.size());
  return sha.hex();
}

TEST(Synthetic, HasTheRequestedSize) {
  const Images train = make_synthetic(small(), Split::train);
  EXPECT_EQ(train.shape, (ImageShape{2, 9, 7}));
  EXPECT_EQ(train.classes, 4);
  EXPECT_EQ(train.size(), 41u);
  EXPECT_EQ(train.pixels.size(), 41u * 126u);
  EXPECT_EQ(make_synthetic(small(), Split::test).size(), 13u);
}

TEST(Synthetic, HasEveryClassEquallyOften) {
  const Images images = make_synthetic(small(), Split::train);
  std::array<int, 4> counts{};
  for (std::uint8_t label : images.labels) ++counts.at(label);
  for (int count : counts) EXPECT_TRUE(count == 10 || count == 11) << count;
}

TEST(Synthetic, IsTheSameOnEveryMachine) {
  EXPECT_EQ(digest(make_synthetic(small(), Split::train)),
            "e1bad05b0117193ebf39e8b7580cf121cf63edf0036c1c16fbb21b171e73d491");
  EXPECT_EQ(digest(make_synthetic(small(), Split::test)),
            "567a0e60454ed3822a601ea2fc9a782a7b78ee4ee8d7b728b8f0b7047938399f");
}

TEST(Synthetic, DependsOnItsSeedAndSplit) {
  SyntheticOptions other = small();
  other.seed = 8;
  other.test = other.train;
  const Images images = make_synthetic(other, Split::train);
  EXPECT_NE(images.pixels, make_synthetic(small(), Split::train).pixels);
  EXPECT_NE(images.pixels, make_synthetic(other, Split::test).pixels);
}

TEST(Synthetic, ASmallerSetIsTheBeginningOfALargerOne) {
  SyntheticOptions fewer = small();
  fewer.train = 11;
  const Images some = make_synthetic(fewer, Split::train);
  const Images all = make_synthetic(small(), Split::train);
  EXPECT_TRUE(std::equal(some.pixels.begin(), some.pixels.end(), all.pixels.begin()));
  EXPECT_TRUE(std::equal(some.labels.begin(), some.labels.end(), all.labels.begin()));
}

/// Classifies an image by the nearest mean of the training images of each label.
class NearestMean {
 public:
  explicit NearestMean(const Images& train)
      : pixels_(train.shape.pixels()), means_(static_cast<std::size_t>(train.classes)) {
    std::vector<double> counts(means_.size());
    for (auto& mean : means_) mean.resize(pixels_);
    for (std::size_t i = 0; i < train.size(); ++i) {
      ++counts[train.labels[i]];
      for (std::size_t p = 0; p < pixels_; ++p)
        means_[train.labels[i]][p] += train.pixels[i * pixels_ + p];
    }
    for (std::size_t c = 0; c < means_.size(); ++c)
      for (double& value : means_[c]) value /= counts[c];
  }

  std::size_t classify(const std::uint8_t* image) const {
    std::vector<double> distances;
    for (const auto& mean : means_) {
      double distance = 0;
      for (std::size_t p = 0; p < pixels_; ++p)
        distance += (image[p] - mean[p]) * (image[p] - mean[p]);
      distances.push_back(distance);
    }
    return static_cast<std::size_t>(std::min_element(distances.begin(), distances.end()) -
                                    distances.begin());
  }

 private:
  std::size_t pixels_;
  std::vector<std::vector<double>> means_;
};

TEST(Synthetic, ClassesCanBeLearnt) {
  for (const ImageShape& shape : {ImageShape{1, 28, 28}, ImageShape{3, 32, 32}}) {
    const SyntheticOptions options{.shape = shape, .train = 500, .test = 200};
    const NearestMean learnt(make_synthetic(options, Split::train));
    const Images test = make_synthetic(options, Split::test);
    int right = 0;
    for (std::size_t i = 0; i < test.size(); ++i)
      right += learnt.classify(test.pixels.data() + i * shape.pixels()) == test.labels[i];
    EXPECT_GT(right, 180) << "of 200; chance would be 20";
  }
}

TEST(Synthetic, AcceptsTheSmallestAndUnevenSizes) {
  for (const ImageShape& shape : {ImageShape{1, 1, 1}, ImageShape{5, 1, 40}, ImageShape{1, 33, 2}})
    EXPECT_EQ(make_synthetic({.shape = shape, .classes = 256, .train = 300}, Split::train).size(),
              300u);
}

TEST(Synthetic, RefusesInvalidSizes) {
  const auto refuse = [](const SyntheticOptions& options, std::string_view part) {
    expect_error<UsageError>([&] { make_synthetic(options, Split::train); }, {part});
  };
  refuse({.shape = {0, 32, 32}}, "sides must be from 1");
  refuse({.shape = {1, -1, 32}}, "sides must be from 1");
  refuse({.classes = 257}, "classes from 1 to 256");
  refuse({.train = 0}, "images at least 1");
  refuse({.train = kAllItems}, "more than 16 GiB: use fewer or smaller images");
}

TEST(SyntheticText, SetsOptions) {
  EXPECT_EQ(parse_synthetic("").shape, (ImageShape{3, 32, 32}));
  const SyntheticOptions some = parse_synthetic(":1x28x20,train=500");
  EXPECT_EQ(some.shape, (ImageShape{1, 28, 20}));
  EXPECT_EQ(some.train, 500u);
  EXPECT_EQ(some.classes, 10);
  const SyntheticOptions all = parse_synthetic(":classes=3,test=9,seed=0,2x3x4,train=1");
  EXPECT_EQ(all.shape, (ImageShape{2, 3, 4}));
  EXPECT_EQ(all.classes, 3);
  EXPECT_EQ(all.train, 1u);
  EXPECT_EQ(all.test, 9u);
  EXPECT_EQ(all.seed, 0u);
}

TEST(SyntheticText, RefusesUnknownOptions) {
  for (std::string_view text : {":", ":1x2", ":1x2x3x4", ":colour=2", ":train", "1x2x3", ":,"})
    expect_error<UsageError>([&] { parse_synthetic(text); }, {"is not an option of synthetic"});
  expect_error<UsageError>([] { parse_synthetic(":train=-1"); }, {"synthetic's train is '-1'"});
  expect_error<UsageError>([] { parse_synthetic(":0x2x3"); },
                           {"a side of synthetic images is '0'"});
  expect_error<UsageError>([] { parse_synthetic(":classes=257"); }, {"from 1 to 256"});
}

}  // namespace
}  // namespace lockstep::internal::data
