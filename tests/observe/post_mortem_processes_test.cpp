// The post-mortem of real processes that are killed, stopped or exit, in every kind of operation.
#include <lockstep/error.h>
#include <lockstep/init.h>

#include "comm/flight/flight_recorder.h"
#include "launch/job.h"
#include "observe/post_mortem.h"
#include "run/post_mortem_file.h"
#include "support/fault.h"

#include <gtest/gtest.h>

#include <cstring>
#include <gmock/gmock.h>
#include <thread>

namespace lockstep::internal::observe {
namespace {

using launch::JobResult;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::Fault;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kRanks = 3;
constexpr int kVictim = 1;
constexpr std::chrono::milliseconds kAWhile(300);

/// Runs `body` on ranks that are processes. A rank whose operation fails exits with 1.
JobResult run(const std::function<void(Group)>& body, const GroupOptions& options = {}) {
  return launch::run_forked({.workers = kRanks, .grace = std::chrono::seconds(5)}, [&] {
    try {
      body(init(options));
      return 0;
    } catch (const Error&) {
      return 1;
    }
  });
}

struct Kind {
  std::string name;
  std::function<void(Group&)> victim;
  std::function<void(Group&)> others;
};

std::vector<Kind> kinds() {
  static std::vector<float> few(30, 1), all(90, 1), many(4'000'000, 1);
  const auto same = [](const std::string& name, const std::function<void(Group&)>& call) {
    return Kind{name, call, call};
  };
  return {same("all_reduce", [](Group& group) { group.all_reduce(few); }),
          same("reduce", [](Group& group) { group.reduce(few); }),
          same("reduce_scatter", [](Group& group) { group.reduce_scatter(all, few); }),
          same("broadcast", [](Group& group) { group.broadcast(few); }),
          same("all_gather", [](Group& group) { group.all_gather(few, all); }),
          same("gather", [](Group& group) { group.gather(few, all); }),
          same("scatter", [](Group& group) { group.scatter(all, few); }),
          same("barrier", [](Group& group) { group.barrier(); }),
          same("allocate", [](Group& group) { group.allocate(4096); }),
          same("split", [](Group& group) { group.split(0); }),
          {"send", [](Group& group) { group.send(many, 0); },
           [](Group& group) { group.recv(few, kVictim, 1); }},
          {"recv", [](Group& group) { group.recv(few, 0); },
           [](Group& group) { group.recv(few, kVictim, 1); }}};
}

class KilledIn : public ::testing::TestWithParam<Kind> {};

TEST_P(KilledIn, NamesTheRankItsOperationAndTheWaitingRanks) {
  const Kind& kind = GetParam();
  const JobResult result = run([&](Group group) {
    comm::note_step(17);
    group.barrier();
    if (group.rank() == kVictim) {
      const auto injector = testing::inject_fault_after(kAWhile, Fault::kill);
      kind.victim(group);
      std::this_thread::sleep_for(std::chrono::minutes(1));
    }
    std::this_thread::sleep_for(2 * kAWhile);
    kind.others(group);  // may succeed if the victim's part was finished
    group.barrier();
  });
  const auto found = examine(result);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::died);
  ASSERT_THAT(found->culprits, ElementsAre(kVictim));
  const FinalState& victim = *found->find(kVictim);
  ASSERT_TRUE(victim.within);
  EXPECT_EQ(victim.within->name(), kind.name);
  EXPECT_TRUE(victim.within->under_way());
  EXPECT_THAT(found->verdict().at(0),
              AllOf(HasSubstr("rank 1 (pid"), HasSubstr("signal 9 (Killed) in step 17, in "),
                    HasSubstr(kind.name)));
  for (int other : {0, 2})
    EXPECT_THAT(found->find(other)->waited_for, ElementsAre(kVictim)) << other;
}

INSTANTIATE_TEST_SUITE_P(EveryOperation, KilledIn, ::testing::ValuesIn(kinds()),
                         [](const auto& info) { return info.param.name; });

/// Shorter than the time for which a rank is stopped.
const GroupOptions kImpatient{.timeout = std::chrono::seconds(1)};

class StoppedBefore : public ::testing::TestWithParam<Kind> {};

TEST_P(StoppedBefore, NamesTheRankThatDidNotArrive) {
  const Kind& kind = GetParam();
  const JobResult result = run(
      [&](Group group) {
        group.barrier();
        if (group.rank() == kVictim) testing::stop_for_a_while(std::chrono::seconds(3));
        kind.others(group);
      },
      kImpatient);
  const auto found = examine(result);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::stalled) << run::to_json(*found).dump();
  EXPECT_THAT(found->culprits, ElementsAre(kVictim));
  for (int other : {0, 2}) {
    EXPECT_THAT(found->find(other)->waited_for, ElementsAre(kVictim)) << other;
    EXPECT_GE(found->find(other)->waited, 0.99) << other;
  }
  EXPECT_THAT(found->verdict().at(0),
              AllOf(HasSubstr("rank 1 (pid"), HasSubstr("stalled"), HasSubstr("did not reach")));
}

std::vector<Kind> kinds_to_stop_before() {
  std::vector<Kind> some;
  for (const Kind& kind : kinds())
    if (kind.name == "all_reduce" || kind.name == "gather" || kind.name == "barrier")
      some.push_back(kind);
  return some;
}

INSTANTIATE_TEST_SUITE_P(SomeOperations, StoppedBefore, ::testing::ValuesIn(kinds_to_stop_before()),
                         [](const auto& info) { return info.param.name; });

TEST(PostMortemOfProcesses, FollowsMessagesToTheStalledRank) {
  const JobResult result = run(
      [](Group group) {
        std::vector<float> few(10);
        group.barrier();
        if (group.rank() == 0) group.recv(few, 1);
        if (group.rank() == 1) group.recv(few, 2);
        if (group.rank() == 2) testing::stop_for_a_while(std::chrono::seconds(3));
        group.barrier();
      },
      kImpatient);
  const auto found = examine(result);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::stalled);
  EXPECT_THAT(found->culprits, ElementsAre(2));
}

TEST(PostMortemOfProcesses, NamesAStoppedRankThatTheLauncherKilled) {
  const JobResult result =
      launch::run_forked({.workers = 2, .grace = std::chrono::milliseconds(200)}, [] {
        try {
          Group group = init(kImpatient);
          group.barrier();
          if (group.rank() == 1) ::raise(SIGSTOP);
          group.barrier();
          return 0;
        } catch (const Error&) {
          return 1;
        }
      });
  const auto found = examine(result);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->find(1)->outcome->told);
  EXPECT_EQ(found->cause, Cause::stalled);
  EXPECT_THAT(found->culprits, ElementsAre(1));
}

TEST(PostMortemOfProcesses, NamesARankThatFailedOnItsOwn) {
  const JobResult result = run([](Group group) {
    group.barrier();
    if (group.rank() == 2) throw Error("a bad day");
    group.barrier();
  });
  const auto found = examine(result);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::failed);
  EXPECT_THAT(found->culprits, ElementsAre(2));
  EXPECT_THAT(found->verdict().at(0),
              AllOf(HasSubstr("rank 2 (pid"), HasSubstr("exited with code 1"),
                    HasSubstr("after barrier #1 ended")));
}

void expect_that_rank_zero_left(const JobResult& result) {
  const auto found = examine(result);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::left);
  EXPECT_THAT(found->culprits, ElementsAre(0));
}

TEST(PostMortemOfProcesses, NamesARankThatExitedWithoutAnError) {
  const JobResult result = run([](Group group) {
    group.barrier();
    if (group.rank() == 0) testing::inject_fault(Fault::exit);
    group.barrier();
  });
  expect_that_rank_zero_left(result);
}

TEST(PostMortemOfProcesses, ARankThatPollsForAMessageIsAVictim) {
  const JobResult result = run([](Group group) {
    group.barrier();
    if (group.rank() == 0) testing::inject_fault(Fault::exit);
    std::vector<float> values(4);
    Work message = group.irecv(values, 0);
    while (!message.done()) std::this_thread::yield();
    message.wait();
  });
  expect_that_rank_zero_left(result);
}

TEST(PostMortemOfProcesses, AMismatchHasNoCulprit) {
  const JobResult result = run([](Group group) {
    std::vector<float> values(group.rank() == 0 ? 1 : 2);
    group.all_reduce(values);
  });
  const auto found = examine(result);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::unclear);
  EXPECT_THAT(found->culprits, IsEmpty());
  EXPECT_THAT(found->verdict().at(0), HasSubstr("no rank can be identified as the cause"));
}

TEST(PostMortemOfProcesses, WorksOverTheNetwork) {
  const JobResult result = run(
      [](Group group) {
        std::vector<float> values(1000);
        for (int i = 0; i < 20; ++i) group.all_reduce(values);
        if (group.rank() == kVictim) testing::inject_fault(Fault::kill);
        group.all_reduce(values);
      },
      {.transport = "gloo"});
  const auto found = examine(result);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::died);
  EXPECT_THAT(found->culprits, ElementsAre(kVictim));
  EXPECT_EQ(found->find(kVictim)->last->sequence, 20u);
}

TEST(PostMortemOfProcesses, ARankThatOverwroteItsRecordsDoesNotAffectOthers) {
  const JobResult result = run([](Group group) {
    std::vector<float> values(10);
    for (int i = 0; i < 50; ++i) group.all_reduce(values);
    if (group.rank() == kVictim) {
      comm::FlightRecorder& recorder = *comm::flight_recorder();
      std::memset(static_cast<void*>(recorder.memory()), 0x5a, sizeof(comm::FlightMemory));
      testing::inject_fault(Fault::segv);
    }
    group.all_reduce(values);
  });
  const auto found = examine(result);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::died);
  EXPECT_THAT(found->culprits, ElementsAre(kVictim));
  EXPECT_THAT(found->find(kVictim)->log.records, IsEmpty());
  EXPECT_EQ(found->find(0)->last->sequence, 50u);
  EXPECT_THAT(found->find(0)->waited_for, ElementsAre(kVictim));
  EXPECT_THAT(found->verdict(), ::testing::Contains(HasSubstr("of rank 1 cannot be read")));
}

TEST(PostMortemOfProcesses, ThereIsNoneForARunThatSucceededOrNeverStarted) {
  EXPECT_FALSE(examine(run([](Group group) { group.barrier(); })));
  EXPECT_FALSE(examine(launch::run_forked({.workers = 2}, [] { return 3; })));
}

TEST(PostMortemOfProcesses, DistinguishesSubgroups) {
  const JobResult result = run([](Group group) {
    Group part = group.split(group.rank() == 0 ? 0 : 1);
    for (int i = 0; i < 5; ++i) part.barrier();
    if (group.rank() == 2) testing::inject_fault(Fault::kill);
    if (group.rank() == 1) part.barrier();
    if (group.rank() == 0) group.barrier();
  });
  const auto found = examine(result);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->culprits, ElementsAre(2));
  EXPECT_NE(found->find(1)->within->group, comm::group_mark("world"));
  EXPECT_THAT(found->find(0)->waited_for, ElementsAre(2));
  EXPECT_THAT(found->find(1)->waited_for, ElementsAre(2));
}

}  // namespace
}  // namespace lockstep::internal::observe
