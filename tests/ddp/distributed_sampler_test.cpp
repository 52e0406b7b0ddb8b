// Every rank's slice of a data set, epoch by epoch.
#include <lockstep/error.h>
#include <lockstep/sampler.h>

#include "support/errors.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace lockstep::internal {
namespace {

using testing::expect_error;
using Indices = std::vector<std::size_t>;

/// The rest of an epoch, in batches of `batch`.
std::vector<Indices> rest_of(DistributedSampler& sampler, std::size_t batch) {
  std::vector<Indices> batches;
  while (auto indices = sampler.next(batch)) batches.push_back(*indices);
  return batches;
}

Indices joined(const std::vector<Indices>& batches) {
  Indices all;
  for (const Indices& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

/// The batches of the first epochs, by rank.
std::vector<std::vector<Indices>> epochs(int ranks, std::size_t count, std::size_t batch,
                                         const DistributedSamplerOptions& options, int number = 1) {
  std::vector<std::vector<Indices>> by_rank(ranks);
  run_threads(ranks, [&](const Group& group) {
    DistributedSampler sampler(count, group, options);
    for (int epoch = 0; epoch < number; ++epoch) {
      sampler.reset();
      EXPECT_EQ(sampler.epoch(), static_cast<std::uint64_t>(epoch));
      const auto batches = rest_of(sampler, batch);
      EXPECT_EQ(joined(batches).size(), sampler.size());
      by_rank[group.rank()].insert(by_rank[group.rank()].end(), batches.begin(), batches.end());
    }
  });
  return by_rank;
}

TEST(DistributedSampler, GlobalBatchesAreTheSameForEveryNumberOfRanks) {
  const auto alone = epochs(1, 24, 12, {}, 3)[0];
  for (int ranks : {2, 3, 4, 6}) {
    const auto parts = epochs(ranks, 24, 12 / ranks, {}, 3);
    ASSERT_EQ(parts[0].size(), alone.size());
    for (std::size_t number = 0; number < alone.size(); ++number) {
      Indices global;
      for (const auto& part : parts)
        global.insert(global.end(), part[number].begin(), part[number].end());
      EXPECT_EQ(global, alone[number]) << ranks << " ranks, batch " << number;
    }
  }
}

TEST(DistributedSampler, EveryEpochHasItsOwnOrder) {
  const auto batches = epochs(1, 50, 50, {}, 3)[0];
  Indices all(50);
  std::iota(all.begin(), all.end(), 0u);
  for (Indices batch : batches) {
    EXPECT_NE(batch, all);
    std::sort(batch.begin(), batch.end());
    EXPECT_EQ(batch, all);
  }
  EXPECT_NE(batches[0], batches[1]);
  EXPECT_NE(batches[1], batches[2]);
  EXPECT_EQ(epochs(1, 50, 50, {.shuffle = false}, 2)[0], (std::vector<Indices>{all, all}));
  EXPECT_NE(epochs(1, 50, 50, {.seed = 1})[0], epochs(1, 50, 50, {.seed = 2})[0]);
}

TEST(DistributedSampler, PadsToEqualNumbersOfSamples) {
  for (std::size_t count : {1u, 2u, 3u, 7u, 8u, 9u, 100u})
    for (std::size_t batch : {1u, 2u, 5u}) {
      const auto parts = epochs(4, count, batch, {});
      std::multiset<std::size_t> seen;
      for (const auto& part : parts) {
        EXPECT_EQ(part.size(), parts[0].size());
        const Indices mine = joined(part);
        EXPECT_EQ(mine.size(), (count + 3) / 4);
        seen.insert(mine.begin(), mine.end());
      }
      const std::size_t most = (seen.size() + count - 1) / count;
      for (std::size_t index = 0; index < count; ++index) {
        EXPECT_GE(seen.count(index), 1u);
        EXPECT_LE(seen.count(index), most);
      }
    }
}

TEST(DistributedSampler, MayDropTheLastSamples) {
  const auto parts = epochs(4, 11, 2, {.shuffle = false, .remainder = Remainder::drop});
  EXPECT_EQ(joined(parts[0]), (Indices{0, 1}));
  EXPECT_EQ(joined(parts[3]), (Indices{6, 7}));
  run_threads(4, [](const Group& group) {
    expect_error<UsageError>([&] { DistributedSampler(3, group, {.remainder = Remainder::drop}); },
                             {"3 samples are too few for 4 ranks"});
    expect_error<UsageError>([&] { DistributedSampler(0, group); }, {"0"});
  });
}

TEST(DistributedSampler, MayGiveUnevenSlicesWithEverySampleOnce) {
  for (std::size_t count : {1u, 3u, 4u, 7u, 9u, 100u})
    for (std::size_t batch : {1u, 2u, 5u}) {
      std::multiset<std::size_t> seen;
      std::set<std::size_t> shares;
      for (const auto& part : epochs(4, count, batch, {.remainder = Remainder::uneven})) {
        const Indices mine = joined(part);
        shares.insert(mine.size());
        seen.insert(mine.begin(), mine.end());
      }
      EXPECT_LE(*shares.rbegin() - *shares.begin(), 1u);
      EXPECT_EQ(seen.size(), count);
      for (std::size_t index = 0; index < count; ++index) EXPECT_EQ(seen.count(index), 1u);
    }
  run_threads(4, [](const Group& group) {
    const DistributedSampler sampler(10, group, {.remainder = Remainder::uneven});
    EXPECT_EQ(sampler.size(), group.rank() % 2 == 0 ? 2u : 3u);
  });
}

TEST(DistributedSampler, AcceptsADataSetOfAnotherSize) {
  run_threads(1, [](const Group& group) {
    DistributedSampler sampler(10, group);
    sampler.next(3);
    sampler.reset(4);
    EXPECT_EQ(sampler.size(), 4u);
    EXPECT_EQ(sampler.epoch(), 1u);
    EXPECT_EQ(joined(rest_of(sampler, 3)).size(), 4u);
    EXPECT_THROW(sampler.next(0), UsageError);
  });
}

void copy_place(const DistributedSampler& from, DistributedSampler& to) {
  torch::serialize::OutputArchive written;
  from.save(written);
  std::stringstream stream;
  written.save_to(stream);
  torch::serialize::InputArchive read;
  read.load_from(stream);
  to.load(read);
}

TEST(DistributedSampler, ResumesAtTheSavedPosition) {
  run_threads(2, [](const Group& group) {
    DistributedSampler first(20, group);
    rest_of(first, 3);
    first.reset();
    first.next(3);
    DistributedSampler second(20, group);
    second.next(5);
    copy_place(first, second);
    second.reset();  // as a DataLoader does
    EXPECT_EQ(second.epoch(), 1u);
    EXPECT_EQ(rest_of(second, 3), rest_of(first, 3));
    // At the end of an epoch, it continues with the next.
    copy_place(first, second);
    first.reset();
    second.reset();
    EXPECT_EQ(second.epoch(), 2u);
    EXPECT_EQ(rest_of(second, 4), rest_of(first, 4));
  });
}

TEST(DistributedSampler, ResumesWithAnotherNumberOfRanks) {
  std::vector<Indices> seen(3);
  run_threads(1, [&](const Group& group) {
    DistributedSampler alone(20, group);
    const Indices had = *alone.next(8);
    seen[0] = had;
    torch::serialize::OutputArchive written;
    alone.save(written);
    std::stringstream stream;
    written.save_to(stream);
    const std::string text = stream.str();
    run_threads(2, [&](const Group& pair) {
      DistributedSampler sampler(20, pair);
      std::stringstream copy(text);
      torch::serialize::InputArchive read;
      read.load_from(copy);
      sampler.load(read);
      seen[1 + pair.rank()] = joined(rest_of(sampler, 2));
    });
  });
  Indices all = joined(seen);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all.size(), 20u);
  EXPECT_EQ(std::set<std::size_t>(all.begin(), all.end()).size(), 20u);
}

TEST(DistributedSampler, RefusesAPositionInAnotherOrder) {
  run_threads(1, [](const Group& group) {
    DistributedSampler from(20, group);
    DistributedSampler larger(21, group);
    expect_error<Error>([&] { copy_place(from, larger); }, {"count 20", "21"});
    DistributedSampler seeded(20, group, {.seed = 1});
    expect_error<Error>([&] { copy_place(from, seeded); }, {"seed 5000", "1"});
    torch::serialize::InputArchive empty;
    std::stringstream stream;
    torch::serialize::OutputArchive().save_to(stream);
    empty.load_from(stream);
    expect_error<Error>([&] { from.load(empty); }, {"has no number 'count'"});
  });
}

struct Numbers : torch::data::datasets::Dataset<Numbers> {
  torch::data::Example<> get(std::size_t index) override {
    return {torch::tensor(static_cast<std::int64_t>(index)), torch::tensor(0)};
  }
  torch::optional<std::size_t> size() const override { return 10; }
};

TEST(DistributedSampler, FeedsTorchsDataLoaderAndCopiesHaveOnePosition) {
  run_threads(2, [](const Group& group) {
    DistributedSampler sampler(10, group);
    auto loader =
        torch::data::make_data_loader(Numbers().map(torch::data::transforms::Stack<>()), sampler,
                                      torch::data::DataLoaderOptions().batch_size(2));
    std::vector<std::vector<std::int64_t>> seen(2);
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (const auto& batch : *loader)
        for (std::int64_t i = 0; i < batch.data.size(0); ++i)
          seen[epoch].push_back(batch.data[i].item<std::int64_t>());
      EXPECT_EQ(sampler.epoch(), static_cast<std::uint64_t>(epoch));
      EXPECT_EQ(seen[epoch].size(), 5u);
    }
    EXPECT_NE(seen[0], seen[1]);
  });
}

}  // namespace
}  // namespace lockstep::internal
