#include "data/cifar10.h"

#include <lockstep/error.h>

#include "data_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace lockstep::internal::data {
namespace {

const std::filesystem::path kShipped = std::filesystem::path(LOCKSTEP_TEST_DATA) / "cifar10";

std::vector<int> labels_of(const Images& images, std::size_t count = kAllItems) {
  const auto end = std::min(count, images.size());
  return {images.labels.begin(), images.labels.begin() + static_cast<std::ptrdiff_t>(end)};
}

TEST(ShippedCifar10, HasItsTrainingImages) {
  const Images images = read_cifar10(kShipped, Split::train);
  EXPECT_EQ(images.size(), 1000u);
  EXPECT_EQ(images.shape, (ImageShape{3, 32, 32}));
  EXPECT_EQ(images.classes, 10);
  EXPECT_EQ(images.pixels.size(), 1000u * 3072u);
  EXPECT_EQ(images.pixels.capacity(), images.pixels.size()) << "memory is wasted";
  EXPECT_EQ(labels_of(images, 10), (std::vector<int>{6, 9, 9, 4, 1, 1, 2, 7, 8, 3}));
}

TEST(ShippedCifar10, HasItsTestImages) {
  const Images images = read_cifar10(kShipped, Split::test);
  EXPECT_EQ(images.size(), 200u);
  EXPECT_EQ(labels_of(images, 10), (std::vector<int>{3, 8, 8, 0, 6, 6, 1, 6, 3, 1}));
}

TEST(ShippedCifar10, HasTheRightPixels) {
  const Images images = read_cifar10(kShipped, Split::train, 1);
  // The frog's upper left corner: red 59, 43, then green 62.
  EXPECT_EQ(images.pixels[0], 59);
  EXPECT_EQ(images.pixels[1], 43);
  EXPECT_EQ(images.pixels[1024], 62);
}

/// A folder with batches of some labels each.
class Cifar10 : public ::testing::Test {
 protected:
  void batch(std::string_view name, std::initializer_list<int> labels) {
    std::string content;
    for (int label : labels) content += cifar10_record(label);
    folder_.write(name, content);
  }

  void expect_refused(std::initializer_list<std::string_view> parts) {
    expect_error<FileError>([&] { read_cifar10(folder_.path(), Split::test); }, parts);
  }

  TemporaryFolder folder_;
};

TEST_F(Cifar10, ReadsBatchesOfAnyLengthOneAfterAnother) {
  batch("data_batch_1.bin", {3});
  EXPECT_EQ(labels_of(read_cifar10(folder_.path(), Split::train)), (std::vector<int>{3}));
  batch("data_batch_2.bin", {0, 9, 1});
  batch("data_batch_3.bin", {5, 2});
  const Images images = read_cifar10(folder_.path(), Split::train);
  EXPECT_EQ(labels_of(images), (std::vector<int>{3, 0, 9, 1, 5, 2}));
  ASSERT_EQ(images.pixels.size(), 6u * 3072u);
  for (std::size_t i = 0; i < images.size(); ++i)
    EXPECT_EQ(images.pixels[i * 3072], images.labels[i] + 1) << "image " << i;
}

TEST_F(Cifar10, ReadsAllFiveBatches) {
  for (int number = 1; number <= 5; ++number)
    batch(fmt::format("data_batch_{}.bin", number), {number});
  batch("data_batch_6.bin", {6});
  EXPECT_EQ(labels_of(read_cifar10(folder_.path(), Split::train)),
            (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST_F(Cifar10, StopsReadingAtTheLimit) {
  batch("data_batch_1.bin", {1, 2});
  folder_.write("data_batch_2.bin", cifar10_record(3) + "\xff");
  EXPECT_EQ(labels_of(read_cifar10(folder_.path(), Split::train, 1)), (std::vector<int>{1}));
  EXPECT_EQ(labels_of(read_cifar10(folder_.path(), Split::train, 2)), (std::vector<int>{1, 2}));
  EXPECT_EQ(labels_of(read_cifar10(folder_.path(), Split::train, 3)), (std::vector<int>{1, 2, 3}));
  expect_error<FileError>([&] { read_cifar10(folder_.path(), Split::train, 4); },
                          {"data_batch_2.bin: at offset 3073 expected a label"});
}

TEST_F(Cifar10, NamesMissingFiles) {
  const std::string folder = folder_.path().string();
  expect_refused({folder + ": test_batch.bin not found", "--data-dir", "data fetch cifar10"});
  expect_error<FileError>([&] { read_cifar10(folder_.path(), Split::train); },
                          {folder + ": data_batch_1.bin not found"});
}

TEST_F(Cifar10, RefusesAGapBetweenBatches) {
  batch("data_batch_1.bin", {1});
  batch("data_batch_3.bin", {1});
  expect_error<FileError>(
      [&] { read_cifar10(folder_.path(), Split::train); },
      {"data_batch_2.bin: is missing, but data_batch_3.bin exists: get the whole set again"});
}

TEST_F(Cifar10, RefusesARecordCutShort) {
  folder_.write("test_batch.bin", cifar10_record(1) + cifar10_record(2).substr(0, 3072));
  expect_refused(
      {"test_batch.bin: at offset 3073 expected a record of 3073 bytes, found the end "
       "of the file after 3072",
       "get it again"});
}

TEST_F(Cifar10, RefusesBytesAfterTheLastRecord) {
  folder_.write("test_batch.bin", cifar10_record(1) + std::string(1, '\0'));
  expect_refused(
      {"at offset 3073 expected a record of 3073 bytes, found the end of the file "
       "after 1"});
}

TEST_F(Cifar10, RefusesAnEmptyFile) {
  folder_.write("test_batch.bin", "");
  expect_refused(
      {"at offset 0 expected a record of 3073 bytes, found the end of the file after 0"});
}

TEST_F(Cifar10, RefusesALabelAboveNine) {
  batch("test_batch.bin", {9, 0, 10});
  expect_refused({"test_batch.bin: at offset 6146 expected a label from 0 to 9, found 10"});
}

TEST_F(Cifar10, RefusesAFileOfAnotherFormat) {
  folder_.write("test_batch.bin", "<!DOCTYPE html><title>Not found</title>");
  expect_refused(
      {"at offset 0 expected a label from 0 to 9, found 60: check that this is a file "
       "of CIFAR-10's binary version"});
  folder_.write("test_batch.bin", idx_header({2, 28, 28}) + counting_bytes(2 * 784));
  expect_refused({"at offset 0 expected a record of 3073 bytes, found the end of the file"});
}

TEST_F(Cifar10, RefusesAFolderInPlaceOfAFile) {
  std::filesystem::create_directory(folder_.path() / "test_batch.bin");
  expect_refused({"test_batch.bin: cannot read at offset 0: Is a directory"});
}

TEST_F(Cifar10, RefusesALimitOfZero) {
  expect_error<UsageError>([&] { read_cifar10(folder_.path(), Split::test, 0); },
                           {"limited to 0 images: request at least 1"});
}

}  // namespace
}  // namespace lockstep::internal::data
