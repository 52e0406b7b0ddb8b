// The post-mortem of constructed failures, and its file format.
#include "observe/post_mortem.h"

#include "run/post_mortem_file.h"

#include <gtest/gtest.h>

#include <csignal>
#include <gmock/gmock.h>

namespace lockstep::internal::observe {
namespace {

using comm::FlightLog;
using comm::FlightRecord;
using launch::JobResult;
using launch::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr comm::FlightFailure kLate{comm::FlightFailure::Why::late, -1};

/// The same operation, failed because rank `blamed` was lost.
FlightRecord lost(FlightRecord operation, int blamed) {
  operation.failed = true;
  operation.failure = {comm::FlightFailure::Why::lost, blamed};
  return operation;
}

FlightRecord call(std::uint64_t sequence, double begin, double end = 0, bool failed = false) {
  return {.operation = comm::Operation::all_reduce,
          .group = comm::group_mark("world"),
          .sequence = sequence,
          .bytes = 4'000'000,
          .step = 17,
          .bucket = static_cast<std::int32_t>(sequence % 2),
          .number = sequence,
          .begin = begin,
          .end = end,
          .failed = failed,
          .failure = kLate};
}

FlightRecord receive(int from, double begin, double end = 0, bool failed = false) {
  return {.incoming = true,
          .peer = from,
          .group = comm::group_mark("world"),
          .bytes = 4000,
          .number = 1000,
          .begin = begin,
          .end = end,
          .failed = failed,
          .failure = kLate};
}

Outcome ended(int rank, int code, double when, int signal = 0, bool told = false) {
  Outcome outcome{{rank, 100 + rank}, code, signal, when, told};
  return outcome;
}

JobResult job(const std::vector<std::vector<FlightRecord>>& ranks, std::vector<Outcome> outcomes) {
  JobResult result;
  result.world_size = static_cast<int>(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    result.flights.push_back({.rank = static_cast<int>(rank), .records = ranks[rank], .step = 17});
  result.outcomes = std::move(outcomes);
  return result;
}

TEST(PostMortem, NamesTheKilledRankItsOperationAndTheWaitingRanks) {
  const auto found =
      examine(job({{call(33, 1, 2), call(34, 10, 10.8, true)},
                   {call(33, 1, 2), call(34, 10.1, 10.8, true)},
                   {call(33, 1, 2), call(34, 9.9)},
                   {call(33, 1, 2), call(34, 10.3, 10.8, true)}},
                  {ended(2, 0, 10.5, SIGKILL), ended(0, 1, 11), ended(1, 1, 11), ended(3, 1, 11)}));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->verdict(),
              ElementsAre("rank 2 (pid 102) was ended by signal 9 (Killed) in step 17, in "
                          "all_reduce #34 of bucket 0 (4.00 MB)",
                          "ranks 0, 1 and 3 waited for rank 2 in all_reduce #34 of bucket 0 (4.00 "
                          "MB), for up to 800 ms"));
}

TEST(PostMortem, NamesTheStalledRankAndItsLastOperation) {
  const auto found = examine(job({{call(33, 1, 2), call(34, 10, 70, true)}, {call(33, 1, 2)}},
                                 {ended(0, 1, 71), ended(1, 0, 80, SIGKILL, true)}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::stalled);
  EXPECT_THAT(found->verdict(),
              ElementsAre("rank 1 (pid 101) stalled in step 17: it did not reach all_reduce #34 "
                          "of bucket 0 (4.00 MB) in time; its last finished operation was "
                          "all_reduce #33 of bucket 1 (4.00 MB)",
                          "rank 0 waited for rank 1 in all_reduce #34 of bucket 0 (4.00 MB), for "
                          "60.0 s"));
}

TEST(PostMortem, NamesTheRankThatStalledInAnOperationAllHadReached) {
  const auto found = examine(job({{call(34, 10, 70, true)}, {call(34, 10)}},
                                 {ended(0, 1, 71), ended(1, 0, 80, SIGKILL, true)}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::stalled);
  EXPECT_EQ(found->verdict().at(0),
            "rank 1 (pid 101) stalled in step 17, in all_reduce #34 of bucket 0 (4.00 MB)");
}

TEST(PostMortem, NamesTheRankThatStalledInAMessageItsPeerWaitsFor) {
  FlightRecord send = receive(0, 10);
  send.incoming = false;
  const auto found = examine(
      job({{receive(1, 10, 70, true)}, {send}}, {ended(0, 1, 71), ended(1, 0, 80, SIGKILL, true)}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::stalled);
  EXPECT_EQ(found->verdict().at(0),
            "rank 1 (pid 101) stalled in step 17, in send of 4.00 kB to rank 0");
}

TEST(PostMortem, ARankThatArrivesAfterTheDeadlineHasStalled) {
  const auto found =
      examine(job({{call(34, 10, 70, true)}, {call(33, 1, 2), call(34, 75, 75.1, true)}},
                  {ended(0, 1, 71), ended(1, 1, 76)}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::stalled);
  EXPECT_THAT(found->culprits, ElementsAre(1));
}

TEST(PostMortem, ErrorsWithoutWaitingRanksHaveNoPostMortem) {
  EXPECT_FALSE(
      examine(job({{call(33, 1, 2)}, {call(33, 1, 2)}}, {ended(0, 1, 3), ended(1, 1, 3)})));
}

TEST(PostMortem, ACycleOfWaitsHasNoCulprit) {
  const auto found = examine(job({{receive(1, 10, 70, true)}, {receive(0, 10, 70.1, true)}},
                                 {ended(0, 1, 71), ended(1, 1, 71)}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::unclear);
  EXPECT_THAT(found->culprits, IsEmpty());
}

TEST(PostMortem, FailuresFollowedBySuccessAreIgnored) {
  const auto found = examine(job({{call(3, 1, 2, true), call(4, 3, 4), call(5, 5, 6, true)},
                                  {call(3, 1, 2, true), call(4, 3, 4), call(5, 5)}},
                                 {ended(1, 0, 5.5, SIGSEGV), ended(0, 1, 7)}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->find(0)->within->sequence, 5u);
  EXPECT_EQ(found->find(1)->within->sequence, 5u);
}

TEST(PostMortem, ARankThatAbortsAfterAFailedOperationIsAVictim) {
  const auto found = examine(job({{call(5, 5, 6, true)}, {call(5, 5)}},
                                 {ended(0, 0, 6, SIGABRT), ended(1, 0, 5.5, SIGKILL)}));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->culprits, ElementsAre(1));
}

TEST(PostMortem, ListsRanksOfOtherHostsAsUnknown) {
  JobResult result =
      job({{call(5, 5, 6, true)}, {receive(3, 5, 5.5, true)}}, {ended(0, 1, 6), ended(1, 1, 6)});
  result.world_size = 4;
  const auto found = examine(result);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->elsewhere, ElementsAre(2, 3));
  EXPECT_THAT(found->culprits, ElementsAre(3));
  EXPECT_EQ(found->cause, Cause::unclear);
  EXPECT_THAT(found->verdict().at(0), HasSubstr("rank 3, on another host"));
  EXPECT_EQ(found->verdict().back(),
            "ranks 2 and 3 ran on other hosts: see the output of the launchers there");
}

TEST(PostMortem, BlamesTheLostRankAndNotALaterOne) {
  // Rank 2 of another host was killed; rank 1 of this host arrived a little later than rank 0.
  JobResult result = job({{call(33, 1, 2), lost(call(34, 10, 10.1), 2)},
                          {call(33, 1, 2), lost(call(34, 10.15, 10.2), 2)}},
                         {ended(0, 1, 11), ended(1, 1, 11)});
  result.world_size = 3;
  const auto found = examine(result);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->culprits, ElementsAre(2));
  EXPECT_EQ(found->cause, Cause::unclear);
  EXPECT_THAT(found->find(0)->waited_for, ElementsAre(2));
  EXPECT_THAT(found->find(1)->waited_for, ElementsAre(2));
}

TEST(PostMortem, NamesARankThatExitedSuccessfullyWhileNeeded) {
  const auto found = examine(job({{call(33, 1, 2), lost(call(34, 10, 10.1), 2)},
                                  {call(33, 1, 2), lost(call(34, 10.15, 10.2), 0)},
                                  {call(33, 1, 2)}},
                                 {ended(2, 0, 9), ended(0, 1, 11), ended(1, 1, 11)}));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->culprits, ElementsAre(2));
  EXPECT_EQ(found->cause, Cause::left);
  EXPECT_EQ(found->moment, 9);
}

TEST(PostMortem, ARanksOwnErrorMakesNoOtherRankACulprit) {
  FlightRecord wrong_length = receive(1, 10, 10.1, true);
  wrong_length.failure = {};
  const auto found = examine(
      job({{wrong_length}, {call(33, 1, 2)}}, {ended(0, 1, 11), ended(1, 0, 12, SIGTERM, true)}));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->culprits, IsEmpty());
  EXPECT_EQ(found->cause, Cause::unclear);
}

TEST(PostMortem, ARankWithoutOperationsHasATime) {
  const auto found = examine(
      job({{call(1, 10, 70, true)}, {}}, {ended(0, 1, 71), ended(1, 0, 80, SIGKILL, true)}));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->culprits, ElementsAre(1));
  EXPECT_EQ(found->moment, 70);
}

TEST(PostMortem, RanksWaitOnlyForMembersOfTheirGroup) {
  const auto of_part = [](FlightRecord record, const char* group) {
    record.group = comm::group_mark(group);
    return record;
  };
  const auto found = examine(job({{of_part(call(6, 3), "low")},
                                  {of_part(call(6, 3), "low")},
                                  {of_part(lost(call(6, 3, 20), 3), "high")},
                                  {of_part(call(6, 3), "high")}},
                                 {ended(3, 0, 20, SIGKILL), ended(2, 1, 21),
                                  ended(0, 0, 22, SIGTERM, true), ended(1, 0, 22, SIGTERM, true)}));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->culprits, ElementsAre(3));
  EXPECT_THAT(found->find(2)->waited_for, ElementsAre(3));
  EXPECT_THAT(found->find(0)->waited_for, IsEmpty());
  EXPECT_THAT(found->verdict().at(1), HasSubstr("rank 2 waited for rank 3"));
}

TEST(PostMortem, CountsTheRestOfManyKilledRanks) {
  std::vector<Outcome> outcomes;
  for (int rank = 0; rank < 30; ++rank) outcomes.push_back(ended(rank, 0, 5, SIGKILL));
  const auto found =
      examine(job(std::vector<std::vector<FlightRecord>>(30, {call(5, 4, 4.5)}), outcomes));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->culprits.size(), 30u);
  EXPECT_EQ(found->verdict().size(), 4u);
  EXPECT_EQ(found->verdict().back(), "and 27 more like these");
}

TEST(PostMortem, WritesTimesRelativeToTheFailure) {
  const auto found = examine(job({{call(33, 1, 2), call(34, 10, 10.8, true)}, {call(33, 1.5, 2)}},
                                 {ended(1, 0, 10.5, SIGKILL), ended(0, 1, 11)}));
  ASSERT_TRUE(found);
  const nlohmann::json json = run::to_json(*found);
  EXPECT_EQ(json.at("cause"), "died");
  EXPECT_EQ(json.at("culprits"), nlohmann::json({1}));
  const nlohmann::json& waiter = json.at("ranks").at(0);
  EXPECT_EQ(waiter.at("waited_for"), nlohmann::json({1}));
  EXPECT_EQ(waiter.at("within"), "all_reduce #34 of bucket 0 (4.00 MB)");
  EXPECT_EQ(waiter.at("operations").at(1), R"({"operation": "all_reduce", "group": "world",
    "bytes": 4000000, "begin": -0.5, "end": 0.3, "outcome": "failed", "step": 17, "bucket": 0,
    "sequence": 34})"_json);
  EXPECT_EQ(waiter.at("operations").at(0).at("wait"), 0.5);
  EXPECT_EQ(json.at("ranks").at(1).at("end"), 0);
  EXPECT_EQ(json.at("ranks").at(1).at("ending"), "was ended by signal 9 (Killed)");
}

}  // namespace
}  // namespace lockstep::internal::observe
