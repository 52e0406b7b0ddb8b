// The feed gives every rank its slices of the sampler's batches, in every epoch.
#include "train/feed.h"

#include <gtest/gtest.h>

#include <tuple>

namespace lockstep::internal::train {
namespace {

/// The pixels of an image have its number as their value. `big` images are loaded ahead of time.
data::Loader numbered(std::size_t count, bool big) {
  auto images = std::make_shared<data::Images>();
  images->shape = big ? data::ImageShape{3, 128, 128} : data::ImageShape{1, 1, 1};
  images->classes = 256;
  for (std::size_t i = 0; i < count; ++i) {
    images->labels.push_back(static_cast<std::uint8_t>(i));
    images->pixels.insert(images->pixels.end(), images->shape.pixels(),
                          static_cast<std::uint8_t>(i));
  }
  const auto channels = static_cast<std::size_t>(images->shape.channels);
  return data::Loader(images, {std::vector<float>(channels, 0), std::vector<float>(channels, 1)},
                      0);
}

/// Whether images are big, and the number of loader threads.
class FeedTest : public ::testing::TestWithParam<std::tuple<bool, int>> {};

INSTANTIATE_TEST_SUITE_P(Sizes, FeedTest,
                         ::testing::Combine(::testing::Bool(), ::testing::Values(0, 3)));

TEST_P(FeedTest, DividesTheSamplersBatchesAmongRanks) {
  constexpr std::size_t kImages = 22;
  const auto [big, threads] = GetParam();
  const data::Loader loader = numbered(kImages, big);
  const data::SamplerOptions options{.count = kImages, .batch = 8, .seed = 3};
  for (int size : {1, 2, 3}) {
    std::vector<std::unique_ptr<Feed>> feeds;
    for (int rank = 0; rank < size; ++rank)
      feeds.push_back(
          std::make_unique<Feed>(loader, options, sync::shards_of(0, rank, size), threads));
    EXPECT_EQ(feeds[0]->loader_threads(), threads > 0 ? threads : big ? 1 : 0);
    data::Sampler sampler(options);
    for (std::size_t step = 0; step < 9; ++step) {
      const std::size_t epoch = 1 + step / 3;
      std::vector<std::int64_t> seen;
      const auto planned = sampler.batch(epoch, step % 3);
      for (auto& feed : feeds) {
        const MicroBatch share = feed->next();
        EXPECT_EQ(share.epoch, epoch);
        EXPECT_EQ(share.global_batch, planned.size());
        for (std::size_t i = 0; i < share.images->size(); ++i) {
          seen.push_back(share.images->labels[i]);
          EXPECT_EQ(share.images->pixels[i * loader.shape().pixels()],
                    static_cast<float>(share.images->labels[i]) / 255.0f);
        }
      }
      EXPECT_EQ(seen, std::vector<std::int64_t>(planned.begin(), planned.end())) << step;
    }
  }
}

TEST(Feed, LoadsTheShardsOfAWorkerInTurn) {
  const data::Loader loader = numbered(22, false);
  const data::SamplerOptions options{.count = 22, .batch = 8, .seed = 3};
  Feed both(loader, options, sync::shards_of(4, 1, 2));
  Feed third(loader, options, sync::shards_of(4, 2, 4));
  Feed fourth(loader, options, sync::shards_of(4, 3, 4));
  both.skip(1);
  third.skip(1);
  fourth.skip(1);
  for (std::size_t step = 1; step < 5; ++step)
    for (Feed* alone : {&third, &fourth}) {
      EXPECT_EQ(both.done(), step);
      const MicroBatch expected = alone->next();
      const MicroBatch share = both.next();
      EXPECT_EQ(share.epoch, expected.epoch);
      EXPECT_EQ(share.global_batch, expected.global_batch);
      EXPECT_EQ(share.images->pixels, expected.images->pixels);
      EXPECT_EQ(share.images->labels, expected.images->labels);
    }
}

TEST_P(FeedTest, PartsHaveTheSameImagesInTheSameOrder) {
  const auto [big, threads] = GetParam();
  const data::Loader loader = numbered(22, big);
  const data::SamplerOptions options{.count = 22, .batch = 8, .seed = 3};
  const sync::Shards shards{.first = 2, .count = 2, .all = 4};
  Feed whole(loader, options, shards, threads);
  Feed in_parts(loader, options, shards, threads, 3);
  in_parts.skip(1);
  for (int shard = 0; shard < 2; ++shard) whole.next();
  for (int number = 0; number < 12; ++number) {  // of two shards a step
    EXPECT_EQ(in_parts.done(), whole.done());
    const MicroBatch share = whole.next();
    std::vector<std::int64_t> seen;
    for (int part = 0; part < 3; ++part) {
      const MicroBatch piece = in_parts.next();
      EXPECT_EQ(piece.epoch, share.epoch);
      EXPECT_EQ(piece.global_batch, share.global_batch);
      seen.insert(seen.end(), piece.images->labels.begin(), piece.images->labels.end());
    }
    EXPECT_EQ(seen, share.images->labels) << number;
  }
}

TEST_P(FeedTest, GivesEveryRankItsPartOfTheImages) {
  const auto [big, threads] = GetParam();
  const data::Loader loader = numbered(22, big);
  const data::SamplerOptions options{.count = 22, .batch = 8, .seed = 3, .parts = 3};
  for (int rank = 0; rank < 3; ++rank) {
    Feed feed(loader, options, sync::shards_of(0, rank, 3), threads);
    const data::Range part = data::part_of(22, rank, 3);
    std::vector<std::int64_t> seen;
    for (std::size_t step = 0; step < 3; ++step) {
      const MicroBatch batch = feed.next();
      EXPECT_EQ(batch.global_batch, step < 2 ? 8u : 6u);
      seen.insert(seen.end(), batch.images->labels.begin(), batch.images->labels.end());
    }
    EXPECT_EQ(seen.size(), part.size());
    for (std::int64_t image : seen) {
      EXPECT_GE(image, static_cast<std::int64_t>(part.begin));
      EXPECT_LT(image, static_cast<std::int64_t>(part.end));
    }
    Feed resumed(loader, options, sync::shards_of(0, rank, 3), threads);
    resumed.skip(2);
    const std::vector<std::int64_t> last = resumed.next().images->labels;
    EXPECT_TRUE(std::equal(last.rbegin(), last.rend(), seen.rbegin()));
  }
}

}  // namespace
}  // namespace lockstep::internal::train
