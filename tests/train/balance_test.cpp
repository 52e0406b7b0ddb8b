// Splits of a batch by speed: the images of each worker, and equal results.
#include "train/policy/balance.h"

#include "support/temporary_folder.h"
#include "train/training.h"

#include <gtest/gtest.h>

#include <numeric>

namespace lockstep::internal::train {
namespace {

TEST(BatchSplit, IsInProportionToSpeed) {
  EXPECT_EQ(split_by_speed(std::vector<double>{1, 1, 1, 1}, 64), (BatchSplit{16, 16, 16, 16}));
  EXPECT_EQ(split_by_speed(std::vector<double>{100, 300}, 64), (BatchSplit{16, 48}));
  EXPECT_EQ(split_by_speed(std::vector<double>{2, 1, 1}, 8), (BatchSplit{4, 2, 2}));
  EXPECT_EQ(split_by_speed(std::vector<double>{5}, 7), (BatchSplit{7}));
}

TEST(BatchSplit, GivesEveryWorkerAnImage) {
  EXPECT_EQ(split_by_speed(std::vector<double>{1e-6, 1, 1, 1}, 7), (BatchSplit{1, 2, 2, 2}));
  EXPECT_EQ(split_by_speed(std::vector<double>{1e9, 1, 1}, 3), (BatchSplit{1, 1, 1}));
}

/// No other split ends earlier: all splits over three workers are tried.
TEST(BatchSplit, IsTheFastestSplit) {
  const std::vector<double> speeds{3.7, 1.1, 2.9};
  const double found = seconds_of(split_by_speed(speeds, 23), speeds);
  for (std::size_t a = 1; a < 22; ++a)
    for (std::size_t b = 1; a + b < 23; ++b)
      EXPECT_GE(seconds_of({a, b, 23 - a - b}, speeds), found) << a << " " << b;
}

TEST(BatchSplit, SlicesCoverTheBatchOnce) {
  const BatchSplit split{1, 40, 3, 20};
  for (std::size_t count : {0u, 1u, 5u, 63u, 64u, 100u}) {
    std::size_t end = 0;
    for (int worker = 0; worker < 4; ++worker) {
      const data::Range slice = slice_of_worker(split, count, worker);
      EXPECT_EQ(slice.begin, end);
      end = slice.end;
      if (count == 64) {
        EXPECT_EQ(slice.size(), split[static_cast<std::size_t>(worker)]);
      }
    }
    EXPECT_EQ(end, count);
  }
}

run::Record record_of(double samples, double seconds) {
  run::Record record;
  record.samples = samples;
  record.times.forward = seconds / 3;
  record.times.backward = seconds * 2 / 3;
  record.times.communication = 100;  // no part of speed
  return record;
}

TEST(Balance, AllRanksChangeToTheSameSplitAfterTheSameStep) {
  run_threads(3, [](const Group& group) {
    Balance balance(group, 90);
    const double seconds = group.rank() == 1 ? 0.4 : 0.1;  // a fourth of the speed
    for (int step = 1; step < 5; ++step)
      EXPECT_EQ(balance.after_step(record_of(30, step == 1 ? 50 : seconds)), std::nullopt);
    EXPECT_EQ(balance.after_step(record_of(30, seconds)), (BatchSplit{40, 10, 40}));
    const double images = group.rank() == 1 ? 10 : 40;
    for (int step = 0; step < 100; ++step)  // they are even now
      EXPECT_EQ(balance.after_step(record_of(images, 0.133)), std::nullopt);
  });
}

TEST(Balance, SmallGainsChangeNothing) {
  run_threads(2, [](const Group& group) {
    Balance balance(group, 64);
    for (int step = 0; step < 100; ++step)
      EXPECT_EQ(balance.after_step(record_of(32, group.rank() == 0 ? 0.100 : 0.104)), std::nullopt);
  });
  run_threads(2, [](const Group& group) {  // a rank that never had an image
    Balance balance(group, 64);
    for (int step = 0; step < 40; ++step)
      EXPECT_EQ(balance.after_step(record_of(group.rank() == 0 ? 64 : 0, 1)), std::nullopt);
  });
}

/// In float64 the order of additions hardly matters.
TEST(Balance, WeightsEqualThoseOfAnEvenSplit) {
  testing::TemporaryFolder folder;
  TrainConfig config = small_job();
  config.dtype = "float64";
  config.workers = 3;
  config.batch = 30;
  config.epochs = 4;
  config.save = folder.path() / "even.safetensors";
  train_on_threads(config);
  const std::vector<double> even = weights_in(config.save);

  config.policy.balance = true;
  config.slow = "1:200";
  config.save = folder.path() / "balanced.safetensors";
  config.run_dir = folder.path() / "run";
  train_on_threads(config);
  EXPECT_LT(distance(weights_in(config.save), even), 1e-12);

  double slow = 0;
  std::map<int, double> seen;  // images, by epoch
  for (const nlohmann::json& line : metrics_of(config.run_dir, "iteration")) {
    seen[line.at("epoch")] += line.at("samples").get<double>();
    if (line.at("rank") == 1 && line.at("iteration") == 15) slow = line.at("samples");
  }
#ifdef __SANITIZE_ADDRESS__
  constexpr double kMost = 5;  // the sanitizer slows the other ranks down, too
#else
  constexpr double kMost = 1;
#endif
  EXPECT_GE(slow, 1);
  EXPECT_LE(slow, kMost) << "the rank is slow however few images it gets";
  EXPECT_EQ(seen, (std::map<int, double>{{1, 100}, {2, 100}, {3, 100}, {4, 100}}));
}

}  // namespace
}  // namespace lockstep::internal::train
