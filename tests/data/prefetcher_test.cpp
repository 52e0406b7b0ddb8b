#include "data/prefetcher.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace lockstep::internal::data {
namespace {

std::shared_ptr<const Images> some_images() {
  auto images = std::make_shared<Images>();
  images->shape = {3, 8, 8};
  images->classes = 10;
  for (std::size_t i = 0; i < 100; ++i) images->labels.push_back(static_cast<std::uint8_t>(i % 10));
  for (std::size_t i = 0; i < 100 * images->shape.pixels(); ++i)
    images->pixels.push_back(static_cast<std::uint8_t>(i * 7 + i / 251));
  return images;
}

const Loader& loader() {
  static const Loader one(some_images(), {.mean = {0, 0.1f, 0.2f}, .deviation = {1, 2, 3}}, 2,
                          Augmentation{});
  return one;
}

std::vector<std::uint32_t> images_of(std::size_t batch) {
  std::vector<std::uint32_t> images;
  for (std::size_t i = 0; i < 1 + batch % 5; ++i)
    images.push_back(static_cast<std::uint32_t>((batch * 31 + i * 7) % 100));
  return images;
}

class PrefetcherTest : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Threads, PrefetcherTest, ::testing::Values(0, 1, 3));

TEST_P(PrefetcherTest, ReturnsLoadedBatchesInTheOrderOfRequests) {
  Prefetcher prefetcher(loader(), GetParam());
  std::size_t asked = 0;
  for (std::size_t taken = 0; taken < 200; ++taken) {
    for (; prefetcher.ahead() < 4; ++asked) prefetcher.ask(images_of(asked), asked / 20);
    Batch expected;
    loader().load(images_of(taken), expected, taken / 20);
    const Batch& batch = prefetcher.next();
    ASSERT_EQ(batch.pixels, expected.pixels) << taken;
    ASSERT_EQ(batch.labels, expected.labels) << taken;
  }
}

TEST_P(PrefetcherTest, ABatchIsValidUntilTheNext) {
  Prefetcher prefetcher(loader(), GetParam());
  for (std::size_t i = 0; i < 3; ++i) prefetcher.ask(images_of(i), 0);
  prefetcher.next();
  const Batch& batch = prefetcher.next();
  const Batch copy = batch;
  for (std::size_t i = 3; i < 10; ++i) prefetcher.ask(images_of(i), 0);
  EXPECT_EQ(batch.pixels, copy.pixels);
  EXPECT_EQ(batch.labels, copy.labels);
}

TEST_P(PrefetcherTest, MayBeDestroyedBeforeItsBatchesAreTaken) {
  for (int i = 0; i < 20; ++i) {
    Prefetcher prefetcher(loader(), GetParam());
    for (std::size_t batch = 0; batch < 10; ++batch) prefetcher.ask(images_of(batch), 0);
    if (i % 2 == 0) prefetcher.next();
  }
}

TEST_P(PrefetcherTest, RethrowsAnExceptionOfLoading) {
  Prefetcher prefetcher(loader(), GetParam());
  prefetcher.ask(images_of(0), 0);
  prefetcher.ask(std::vector<std::uint32_t>{100}, 0);  // there is no such image
  prefetcher.ask(images_of(2), 0);
  prefetcher.next();
  EXPECT_THROW(prefetcher.next(), std::logic_error);
  EXPECT_EQ(prefetcher.next().size(), images_of(2).size());
}

}  // namespace
}  // namespace lockstep::internal::data
