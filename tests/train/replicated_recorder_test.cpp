// The records of all ranks' iterations on every rank.
#include "train/elastic/replicated_recorder.h"

#include <gtest/gtest.h>

namespace lockstep::internal::train {
namespace {

run::Record record_of(int rank, double iteration, double seconds) {
  run::Record record;
  record.iteration = iteration;
  record.samples = 10 + rank;
  record.times.total = seconds;
  return record;
}

TEST(ReplicatedRecorder, RankZeroGetsWholeRecordsInOrder) {
  run_threads(3, [](Group group) {
    std::vector<std::vector<run::Record>> came(3);
    ReplicatedRecorder recorder(group,
                                [&](int rank, std::span<const run::Record> records) {
                                  auto& its = came[static_cast<std::size_t>(rank)];
                                  its.insert(its.end(), records.begin(), records.end());
                                },
                                {});
    for (int iteration = 1; iteration <= 5; ++iteration) {
      EXPECT_FALSE(recorder.exchange(record_of(group.rank(), iteration, 0.5), false));
      recorder.complete(record_of(group.rank(), iteration, iteration));
      if (iteration == 3) recorder.flush();
    }
    recorder.flush();
    recorder.flush();  // nothing twice
    for (std::size_t rank = 0; rank < 3; ++rank) {
      ASSERT_EQ(came[rank].size(), group.rank() == 0 ? 5u : 0u);
      for (std::size_t i = 0; i < came[rank].size(); ++i) {
        EXPECT_EQ(came[rank][i].iteration, static_cast<double>(i + 1));
        EXPECT_EQ(came[rank][i].times.total, static_cast<double>(i + 1));
        EXPECT_EQ(came[rank][i].samples, 10.0 + static_cast<double>(rank));
      }
    }
  });
}

TEST(ReplicatedRecorder, EveryRankKeepsTheNewestRecordsOfAll) {
  run_threads(2, [](Group group) {
    ReplicatedRecorder recorder(group, [](int, std::span<const run::Record>) {}, {});
    for (int iteration = 1; iteration <= 5; ++iteration) {
      recorder.exchange(record_of(group.rank(), iteration, 0.5), false);
      recorder.complete(record_of(group.rank(), iteration, iteration));
    }
    const std::deque<Row> rows = recorder.rows_until(4);  // the fifth was not done after all
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0][1].iteration, 3);
    EXPECT_EQ(rows[1][1].iteration, 4);
    EXPECT_EQ(rows[1][1].samples, 11);
    EXPECT_EQ(recorder.rows_until(5).back()[1].times.total, 0.5);  // the other may be gone by now
  });
}

TEST(ReplicatedRecorder, AFlagOfOneRankReachesAll) {
  run_threads(3, [](Group group) {
    ReplicatedRecorder recorder(group, [](int, std::span<const run::Record>) {}, {});
    EXPECT_FALSE(recorder.exchange(record_of(group.rank(), 1, 0), false));
    EXPECT_TRUE(recorder.exchange(record_of(group.rank(), 2, 0), group.rank() == 2));
  });
}

TEST(ReplicatedRecorder, RowsAreConvertedToNumbersAndBack) {
  const std::deque<Row> rows{{record_of(0, 1, 0.25)},
                             {record_of(0, 2, 0.5), record_of(1, 2, 0.75)}};
  const std::deque<Row> back = rows_from(to_numbers(rows));
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].size(), 1u);
  EXPECT_EQ(back[1][1].samples, 11);
  EXPECT_EQ(back[1][1].times.total, 0.75);
  EXPECT_TRUE(rows_from(to_numbers({})).empty());
}

}  // namespace
}  // namespace lockstep::internal::train
