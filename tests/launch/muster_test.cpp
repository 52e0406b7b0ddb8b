// A run's group that changes: real processes, some of which end.
#include "launch/muster.h"

#include "launch/elastic_keys.h"
#include "launch/job.h"
#include "launch/muster_workers.h"

#include <gtest/gtest.h>

namespace lockstep::launch {
namespace {

constexpr int kRight = 0, kWrong = 1, kTooFew = 3, kDone = 4, kEnded = 5;

/// Of each worker: how its body ended.
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

class MusterOver : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Transports, MusterOver, ::testing::Values("shm", "gloo"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(MusterOver, WhoIsLeftGoesOn) {
  const std::vector<int> codes = codes_of(4, [] {
    Muster muster(options(GetParam()));
    {
      Group group = muster.first();
      if (numbers_in(group) != std::vector<int>{0, 1, 2, 3}) return kWrong;
      if (rank() == 0) die();
      await_loss_of(group, 0);
    }
    {
      Group group = muster.again(0);
      if (numbers_in(group) != std::vector<int>{1, 2, 3}) return kWrong;
      if (muster.change() != "rank 0 was ended by signal 9 (Killed)") return kWrong;
      if (muster.is_first_member() != (rank() == 1)) return kWrong;
      if (rank() == 2) die();
      await_loss_of(group, 2);
    }
    Group group = muster.again(2);
    return numbers_in(group) == std::vector<int>{1, 3} ? kRight : kWrong;
  });
  EXPECT_EQ(codes, (std::vector<int>{128 + SIGKILL, kRight, 128 + SIGKILL, kRight}));
}

TEST(Muster, LossesWhileTheGroupIsMadeAreNoticed) {
  const std::vector<int> codes = codes_of(3, [] {
    Muster muster(options());
    if (rank() == 1) die();
    try {
      muster.first();
      return kWrong;
    } catch (const PeerLostError& lost) {
      Group group = muster.again(lost.rank());
      return numbers_in(group) == std::vector<int>{0, 2} ? kRight : kWrong;
    }
  });
  EXPECT_EQ(codes, (std::vector<int>{kRight, 128 + SIGKILL, kRight}));
}

TEST(Muster, TheLastOneGoesOnAlone) {
  const std::vector<int> codes = codes_of(2, [] {
    Muster muster(options());
    {
      Group group = muster.first();
      if (rank() == 0) die();
      await_loss_of(group, 0);
    }
    Group group = muster.again(0);
    return group.size() == 1 && muster.is_first_member() ? kRight : kWrong;
  });
  EXPECT_EQ(codes, (std::vector<int>{128 + SIGKILL, kRight}));
}

TEST(Muster, WithTooFewItEnds) {
  const std::vector<int> codes = codes_of(3, [] {
    MusterOptions three = options();
    three.least = 3;
    Muster muster(three);
    {
      Group group = muster.first();
      if (rank() == 1) die();
      await_loss_of(group, 1);
    }
    muster.again(1);
    return kRight;
  });
  EXPECT_EQ(codes, (std::vector<int>{kTooFew, 128 + SIGKILL, kTooFew}));
}

TEST(Muster, WhoComesAfterTheEndLearnsOfIt) {
  for (const auto& [ends, code] : {std::pair{false, kDone}, std::pair{true, kEnded}}) {
    const std::vector<int> codes = codes_of(2, [&, ends = ends] {
      Muster muster(options());
      {
        Group group = muster.first();
        if (rank() == 0) {
          group.barrier();
          ends ? muster.end("because") : muster.done();
          return kRight;
        }
        group.barrier();
        await_loss_of(group, 0);
      }
      muster.again(0);
      return kWrong;
    });
    EXPECT_EQ(codes, (std::vector<int>{kRight, code}));
  }
}

/// Of workers that come later: what lockstep launch --join does for them.
TEST(Muster, OthersJoinWhenThereIsRoom) {
  const std::vector<int> codes = codes_of(2, [] {
    ::setenv("LOCKSTEP_ELASTIC", "1", 1);
    const bool joins = rank() == 1;
    Muster muster(options());
    if (joins) {
      StoreClient store(Address::parse(std::getenv("LOCKSTEP_RENDEZVOUS"), "test"),
                        std::getenv("LOCKSTEP_TOKEN"), Deadline::after(std::chrono::seconds(60)));
      store.set(elastic_key("claimed", 0), "");
      Group group = muster.first();
      return numbers_in(group) == std::vector<int>{0, 1} ? kRight : kWrong;
    }
    if (muster.first().size() != 1) return kWrong;
    while (!muster.someone_waits()) ::usleep(1000);
    Group group = muster.again(-1);
    if (muster.change() != "rank 1 has joined") return kWrong;
    return numbers_in(group) == std::vector<int>{0, 1} ? kRight : kWrong;
  });
  EXPECT_EQ(codes, (std::vector<int>{kRight, kRight}));
}

TEST(Muster, NeedsALauncherThatGoesOn) {
  const JobResult result = run_forked({.workers = 2}, [] {
    try {
      Muster muster(options());
      return kWrong;
    } catch (const UsageError&) {
      return kRight;
    }
  });
  EXPECT_FALSE(result.first_failure);
}

}  // namespace
}  // namespace lockstep::launch
