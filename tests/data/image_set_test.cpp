#include "data/image_set.h"

#include <lockstep/error.h>

#include "data_files.h"

#include <gtest/gtest.h>

namespace lockstep::internal::data {
namespace {

const std::filesystem::path kShipped = LOCKSTEP_TEST_DATA;

TEST(ImageSet, EverySetLoads) {
  for (const std::string& name : image_set_names()) {
    const ImageSet set = open_image_set({.name = name, .folder = kShipped, .limit = 20});
    EXPECT_EQ(set.train->size(), 20u) << name;
    EXPECT_GE(set.test->size(), 200u) << name;
    EXPECT_EQ(set.train->shape, set.test->shape) << name;
    EXPECT_EQ(set.class_names.size(), static_cast<std::size_t>(set.train->classes)) << name;
    const Loader loader(set.train, set.normalisation, set.padding);
    EXPECT_EQ(loader.shape().height, 32) << name;
    EXPECT_EQ(image_kind(name).shape, loader.shape()) << name;
    EXPECT_EQ(image_kind(name).classes, set.train->classes) << name;
  }
}

TEST(ImageSet, TheFolderMayBeTheSetsOwn) {
  for (const std::string name : {"mnist", "cifar10"})
    EXPECT_EQ(open_image_set({.name = name, .folder = kShipped / name, .limit = 3}).train->size(),
              3u);
}

TEST(ImageSet, TheFolderMayHoldThePublishedOne) {
  TemporaryFolder folder;
  std::filesystem::copy(kShipped / "cifar10", folder.path() / "cifar-10-batches-bin");
  EXPECT_EQ(open_image_set({.name = "cifar10", .folder = folder.path()}).train->size(), 1000u);
}

TEST(ImageSet, SyntheticParsesItsSize) {
  const ImageSet set =
      open_image_set({.name = "synthetic:1x8x9,train=30,test=5,classes=3", .folder = {}});
  EXPECT_EQ(set.train->shape, (ImageShape{1, 8, 9}));
  EXPECT_EQ(set.train->size(), 30u);
  EXPECT_EQ(set.test->size(), 5u);
  EXPECT_EQ(set.class_names, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(image_kind("synthetic:1x8x9,classes=3").shape, set.train->shape);
  EXPECT_EQ(image_kind("synthetic:1x8x9,classes=3").classes, 3);
}

TEST(ImageSet, UnknownNamesAreRefusedWithTheKnownOnes) {
  for (std::string_view name : {"nonsense", "", "synthetics", "MNIST"})
    expect_error<UsageError>([&] { check_image_set_name(name, "--data"); },
                             {"--data is '", "choose from mnist, cifar10 and synthetic"});
  expect_error<UsageError>([&] { check_image_set_name("synthetic:huge", "--data"); }, {"'huge'"});
  expect_error<UsageError>([] { open_image_set({.name = "nonsense", .folder = {}}); }, {"mnist"});
}

TEST(ImageSet, MissingDataAreNamed) {
  for (const std::string name : {"mnist", "cifar10"})
    expect_error<FileError>([&] { open_image_set({.name = name, .folder = "/nowhere"}); },
                            {"/nowhere: ", "--data-dir"});
}

}  // namespace
}  // namespace lockstep::internal::data
