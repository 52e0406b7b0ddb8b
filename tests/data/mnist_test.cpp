#include "data/mnist.h"

#include <lockstep/error.h>

#include "data_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace lockstep::internal::data {
namespace {

const std::filesystem::path kShipped = std::filesystem::path(LOCKSTEP_TEST_DATA) / "mnist";

std::vector<int> first_labels(const Images& images, int count) {
  return {images.labels.begin(), images.labels.begin() + count};
}

TEST(ShippedMnist, HasItsTrainingImages) {
  const Images images = read_mnist(kShipped, Split::train);
  EXPECT_EQ(images.size(), 6000u);
  EXPECT_EQ(images.shape, (ImageShape{1, 28, 28}));
  EXPECT_EQ(images.classes, 10);
  EXPECT_EQ(images.pixels.size(), 6000u * 784u);
  EXPECT_EQ(first_labels(images, 10), (std::vector<int>{5, 0, 4, 1, 9, 2, 1, 3, 1, 4}));
}

TEST(ShippedMnist, HasItsTestImages) {
  const Images images = read_mnist(kShipped, Split::test);
  EXPECT_EQ(images.size(), 1000u);
  EXPECT_EQ(images.pixels.size(), 1000u * 784u);
  EXPECT_EQ(first_labels(images, 10), (std::vector<int>{7, 2, 1, 0, 4, 1, 4, 9, 5, 9}));
}

TEST(ShippedMnist, HasTheRightPixels) {
  const Images images = read_mnist(kShipped, Split::train, 1);
  const std::uint8_t* five = images.pixels.data();
  // The first stroke of the first 5, and the empty border above it.
  EXPECT_EQ(std::accumulate(five, five + 5 * 28, 0), 0);
  EXPECT_EQ(five[5 * 28 + 12], 3);
  EXPECT_EQ(five[5 * 28 + 13], 18);
  EXPECT_EQ(five[5 * 28 + 21], 255);
}

TEST(ShippedMnist, StopsAtTheLimit) {
  const Images all = read_mnist(kShipped, Split::test);
  const Images some = read_mnist(kShipped, Split::test, 7);
  EXPECT_EQ(some.size(), 7u);
  EXPECT_EQ(some.pixels.size(), 7u * 784u);
  EXPECT_TRUE(std::equal(some.pixels.begin(), some.pixels.end(), all.pixels.begin()));
  EXPECT_EQ(read_mnist(kShipped, Split::test, 1'000'000).size(), 1000u);
}

/// A set of three test images, whose files a test may replace or remove.
class Mnist : public ::testing::Test {
 protected:
  Mnist() {
    images(idx_header({3, 28, 28}) + counting_bytes(3 * 784));
    labels(idx_header({3}) + std::string("\7\0\11", 3));
  }

  void images(const std::string& content) { folder_.write("t10k-images-idx3-ubyte", content); }
  void labels(const std::string& content) { folder_.write("t10k-labels-idx1-ubyte", content); }

  void expect_refused(std::initializer_list<std::string_view> parts) {
    expect_error<FileError>([&] { read_mnist(folder_.path(), Split::test); }, parts);
  }

  TemporaryFolder folder_;
};

TEST_F(Mnist, ReadsPlainFiles) {
  const Images images = read_mnist(folder_.path(), Split::test);
  EXPECT_EQ(first_labels(images, 3), (std::vector<int>{7, 0, 9}));
  EXPECT_EQ(images.pixels[784], 784 % 256);
}

TEST_F(Mnist, NamesMissingFiles) {
  const std::string folder = folder_.path().string();
  expect_error<FileError>(
      [&] { read_mnist(folder_.path(), Split::train); },
      {folder + ": neither train-images-idx3-ubyte nor train-images-idx3-ubyte.gz found",
       "name the folder that holds MNIST's four idx files with --data-dir"});
  std::filesystem::remove(folder_.path() / "t10k-labels-idx1-ubyte");
  expect_refused({"neither t10k-labels-idx1-ubyte nor t10k-labels-idx1-ubyte.gz found"});
}

TEST_F(Mnist, RefusesAFolderThatIsAFile) {
  const std::filesystem::path file = folder_.write("file", "");
  expect_error<FileError>([&] { read_mnist(file, Split::test); },
                          {"file: neither t10k-images-idx3-ubyte nor"});
}

TEST_F(Mnist, RefusesLabelsOfOtherImages) {
  labels(idx_header({2}) + counting_bytes(2));
  expect_refused(
      {"t10k-labels-idx1-ubyte: at offset 4 expected 3 labels, one for each image of "
       "t10k-images-idx3-ubyte, found 2: get both files from one source"});
}

TEST_F(Mnist, ComparesCountsPastTheLimitToo) {
  labels(idx_header({2}) + counting_bytes(2));
  expect_error<FileError>([&] { read_mnist(folder_.path(), Split::test, 1); },
                          {"expected 3 labels, one for each image of", "found 2"});
}

TEST_F(Mnist, RefusesALabelThatIsNoDigit) {
  labels(idx_header({3}) + "\1\2\12");
  expect_refused({"t10k-labels-idx1-ubyte: at offset 10 expected a label from 0 to 9, found 10",
                  "get it again"});
}

TEST_F(Mnist, RefusesImagesOfAnotherSize) {
  images(idx_header({3, 32, 28}) + counting_bytes(3 * 32 * 28));
  expect_refused({"t10k-images-idx3-ubyte: at offset 8 expected images of 28×28, found 32×28"});
}

TEST_F(Mnist, RefusesAnEmptySet) {
  images(idx_header({0, 28, 28}));
  labels(idx_header({0}));
  expect_refused({"t10k-images-idx3-ubyte: at offset 4 expected at least 1 image, found 0"});
}

TEST_F(Mnist, RefusesImagesInPlaceOfLabels) {
  labels(idx_header({3, 28, 28}) + counting_bytes(3 * 784));
  expect_refused({"t10k-labels-idx1-ubyte: at offset 0 expected the idx magic number 00000801"});
}

TEST_F(Mnist, RefusesALimitOfZero) {
  expect_error<UsageError>([&] { read_mnist(folder_.path(), Split::test, 0); },
                           {"limited to 0 images: request at least 1"});
}

}  // namespace
}  // namespace lockstep::internal::data
