// A group that changes during a run: real processes, some of which end.
#include "launch/elastic/elastic_membership.h"

#include "launch/elastic/elastic_keys.h"
#include "launch/job.h"
#include "launch/membership_workers.h"

#include <gtest/gtest.h>

namespace lockstep::internal::launch {
namespace {

constexpr int kRight = 0, kWrong = 1, kTooFew = 3, kDone = 4, kEnded = 5;

/// How the body of each worker ended.
std::vector<int> codes_of(int workers, const std::function<int()>& body) {
  JobOptions job{.workers = workers};
  job.nodes.elastic = true;
  const JobResult result = run_forked(job, [&] {
    try {
      return body();
    } catch (const TooFewError&) {
      return kTooFew;
    } catch (const RunDoneError&) {
      return kDone;
    } catch (const Error& error) {
      return std::string(error.what()).find("another worker ended the run: because") == 0 ? kEnded
                                                                                          : kWrong;
    }
  });
  std::vector<int> codes(static_cast<std::size_t>(workers));
  for (const Outcome& outcome : result.outcomes)
    codes[static_cast<std::size_t>(outcome.rank)] = outcome.code();
  return codes;
}

class MembershipOver : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Transports, MembershipOver, ::testing::Values("shm", "gloo"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(MembershipOver, SurvivorsContinue) {
  const std::vector<int> codes = codes_of(4, [] {
    ElasticMembership membership(options(GetParam()));
    {
      Group group = membership.first();
      if (numbers_in(group) != std::vector<int>{0, 1, 2, 3}) return kWrong;
      if (rank() == 0) die();
      await_loss_of(group, 0);
    }
    {
      Group group = membership.again(0);
      if (numbers_in(group) != std::vector<int>{1, 2, 3}) return kWrong;
      if (membership.change() != "rank 0 was ended by signal 9 (Killed)") return kWrong;
      if (membership.is_first_member() != (rank() == 1)) return kWrong;
      if (rank() == 2) die();
      await_loss_of(group, 2);
    }
    Group group = membership.again(2);
    return numbers_in(group) == std::vector<int>{1, 3} ? kRight : kWrong;
  });
  EXPECT_EQ(codes, (std::vector<int>{128 + SIGKILL, kRight, 128 + SIGKILL, kRight}));
}

TEST(ElasticMembership, WorkersLostDuringGroupCreationAreDetected) {
  const std::vector<int> codes = codes_of(3, [] {
    ElasticMembership membership(options());
    if (rank() == 1) die();
    try {
      membership.first();
      return kWrong;
    } catch (const PeerLostError& lost) {
      Group group = membership.again(lost.rank());
      return numbers_in(group) == std::vector<int>{0, 2} ? kRight : kWrong;
    }
  });
  EXPECT_EQ(codes, (std::vector<int>{kRight, 128 + SIGKILL, kRight}));
}

TEST(ElasticMembership, SingleSurvivorContinues) {
  const std::vector<int> codes = codes_of(2, [] {
    ElasticMembership membership(options());
    {
      Group group = membership.first();
      if (rank() == 0) die();
      await_loss_of(group, 0);
    }
    Group group = membership.again(0);
    return group.size() == 1 && membership.is_first_member() ? kRight : kWrong;
  });
  EXPECT_EQ(codes, (std::vector<int>{128 + SIGKILL, kRight}));
}

TEST(ElasticMembership, EndsWithTooFewWorkers) {
  const std::vector<int> codes = codes_of(3, [] {
    MembershipOptions three = options();
    three.least = 3;
    ElasticMembership membership(three);
    {
      Group group = membership.first();
      if (rank() == 1) die();
      await_loss_of(group, 1);
    }
    membership.again(1);
    return kRight;
  });
  EXPECT_EQ(codes, (std::vector<int>{kTooFew, 128 + SIGKILL, kTooFew}));
}

TEST(ElasticMembership, WorkerThatComesAfterTheEndIsTold) {
  for (const auto& [ends, code] : {std::pair{false, kDone}, std::pair{true, kEnded}}) {
    const std::vector<int> codes = codes_of(2, [&, ends = ends] {
      ElasticMembership membership(options());
      {
        Group group = membership.first();
        if (rank() == 0) {
          group.barrier();
          ends ? membership.end("because") : membership.done();
          return kRight;
        }
        group.barrier();
        await_loss_of(group, 0);
      }
      membership.again(0);
      return kWrong;
    });
    EXPECT_EQ(codes, (std::vector<int>{kRight, code}));
  }
}

/// For workers that join later: what lockstep launch --join sets up for them.
TEST(ElasticMembership, OthersJoinBelowTheMaximum) {
  const std::vector<int> codes = codes_of(2, [] {
    ::setenv("LOCKSTEP_ELASTIC", "1", 1);
    const bool joins = rank() == 1;
    ElasticMembership membership(options());
    if (joins) {
      StoreClient store(Address::parse(std::getenv("LOCKSTEP_RENDEZVOUS"), "test"),
                        std::getenv("LOCKSTEP_TOKEN"), Deadline::after(std::chrono::seconds(60)));
      store.set(elastic_key("claimed", 0), "");
      Group group = membership.first();
      return numbers_in(group) == std::vector<int>{0, 1} ? kRight : kWrong;
    }
    if (membership.first().size() != 1) return kWrong;
    while (!membership.someone_waits()) ::usleep(1000);
    Group group = membership.again(-1);
    if (membership.change() != "rank 1 has joined") return kWrong;
    return numbers_in(group) == std::vector<int>{0, 1} ? kRight : kWrong;
  });
  EXPECT_EQ(codes, (std::vector<int>{kRight, kRight}));
}

TEST(ElasticMembership, NeedsAnElasticLauncher) {
  const JobResult result = run_forked({.workers = 2}, [] {
    try {
      ElasticMembership membership(options());
      return kWrong;
    } catch (const UsageError&) {
      return kRight;
    }
  });
  EXPECT_FALSE(result.first_failure);
}

}  // namespace
}  // namespace lockstep::internal::launch
