// Messages: how many may wait for their receiver, in which order they arrive, and what happens
// beyond the limits. Runs on all transports.
#include <lockstep/error.h>
#include <lockstep/group.h>

#include "support/ranks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <gmock/gmock.h>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace lockstep::internal {
namespace {

using std::chrono::milliseconds;
using ::testing::AnyOf;
using testing::errors_of_ranks;
using ::testing::HasSubstr;
using testing::RankKind;
using testing::run_ranks;

class Messages : public ::testing::TestWithParam<RankKind> {};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Messages);
INSTANTIATE_TEST_SUITE_P(Kinds, Messages, ::testing::ValuesIn(testing::kinds(2)),
                         [](const auto& info) { return testing::name_of(info.param); });

/// Only ranks 0 and 1 exchange messages: a world of mpirun may have more.
bool idle(const Group& group) {
  return group.rank() > 1;
}

// Slots are reused in turn and must not reach one that is still in use. MESSAGES sets the number of
// later messages: more than a million take a minute over Gloo.
TEST_P(Messages, ManyLaterMessagesDoNotReplaceAWaitingOne) {
  const char* many = std::getenv("MESSAGES");
  const int later = many ? std::atoi(many) : 20'000;
  run_ranks(GetParam(), 2, [later](Group group) {
    constexpr std::int32_t kAtOnce = 512;
    if (idle(group)) return group.barrier();
    std::vector<std::int32_t> early{-1};
    Work waiting;
    if (group.rank() == 0) waiting = group.isend(early, 1, 7);
    std::vector<std::int32_t> values(kAtOnce);
    std::vector<std::int32_t> expected(kAtOnce);
    for (std::int32_t first = 0; first < later; first += kAtOnce) {
      std::iota(expected.begin(), expected.end(), first);
      if (group.rank() == 0) values = expected;
      std::vector<Work> works;
      for (std::size_t i = 0; i < kAtOnce; ++i) {
        const auto one = std::span(values).subspan(i, 1);
        works.push_back(group.rank() == 0 ? group.isend(one, 1, 8) : group.irecv(one, 0, 8));
      }
      for (Work& work : works) work.wait();
      if (values != expected) FAIL() << "wrong bytes among the messages from " << first << " on";
    }
    if (group.rank() == 1) group.recv(early, 0, 7);
    EXPECT_EQ(early[0], -1);
    waiting.wait();
    group.barrier();
  });
}

// Far more than may wait at the receiver: the others wait at their sender.
TEST_P(Messages, BothRanksMayStartThousandsOfSendsBeforeTheirFirstReceive) {
  run_ranks(GetParam(), 2, [](Group group) {
    constexpr std::size_t kMessages = 20'000;
    if (idle(group)) return group.barrier();
    const int peer = 1 - group.rank();
    std::vector<std::int32_t> out(kMessages);
    std::iota(out.begin(), out.end(), 1000 * group.rank());
    std::vector<std::int32_t> in(kMessages);
    std::vector<Work> works;
    for (std::size_t i = 0; i < kMessages; ++i)
      works.push_back(group.isend(std::span(out).subspan(i, 1), peer, static_cast<int>(i % 3)));
    for (std::size_t i = 0; i < kMessages; ++i)
      group.recv(std::span(in).subspan(i, 1), peer, static_cast<int>(i % 3));
    for (Work& work : works) work.wait();
    std::iota(out.begin(), out.end(), 1000 * peer);
    EXPECT_EQ(in, out);
    group.barrier();
  });
}

TEST_P(Messages, OtherTagsMayWaitWhileLaterMessagesAreReceived) {
  run_ranks(GetParam(), 2, [](Group group) {
    constexpr int kTags = 3000;
    if (idle(group)) return group.barrier();
    std::vector<std::int32_t> values(kTags);
    std::vector<Work> works;
    for (int tag = 0; tag < kTags; ++tag) {
      const auto i = static_cast<std::size_t>(tag);
      values[i] = group.rank() == 0 ? tag : -1;
      if (group.rank() == 0) works.push_back(group.isend(std::span(values).subspan(i, 1), 1, tag));
    }
    for (int tag = kTags - 1; tag >= 0 && group.rank() == 1; --tag) {
      const auto i = static_cast<std::size_t>(tag);
      group.recv(std::span(values).subspan(i, 1), 0, tag);
      EXPECT_EQ(values[i], tag);
    }
    for (Work& work : works) work.wait();
    group.barrier();
  });
}

// Messages of collectives must not queue behind the user's messages that have no receive yet.
TEST_P(Messages, CollectivesOvertakeWaitingMessages) {
  run_ranks(GetParam(), 2, [](Group group) {
    constexpr std::size_t kMessages = 40;
    constexpr std::size_t kLength = 1 << 20;  // 160 MB in total
    std::vector<float> data(kLength, 1.0f);
    std::vector<Work> works;
    for (std::size_t i = 0; i < kMessages && group.rank() == 0; ++i)
      works.push_back(group.isend(data, 1, 3));
    std::vector<float> sum(1000, 1.0f);
    for (Algorithm algorithm : {Algorithm::ring, Algorithm::star, Algorithm::tree})
      group.all_reduce(sum, ReduceOp::average, algorithm);
    EXPECT_EQ(sum[999], 1.0f);
    std::vector<float> in(kLength);
    for (std::size_t i = 0; i < kMessages && group.rank() == 1; ++i) {
      group.recv(in, 0, 3);
      EXPECT_EQ(in, data);
    }
    for (Work& work : works) work.wait();
    group.barrier();
  });
}

// Rank 1 waits for a message that cannot arrive before it has received others: no rank hangs, and
// the error names the limit.
TEST_P(Messages, MessageBehindTooManyUnreceivedOnesIsAnError) {
  if (testing::name_of(GetParam()).find("mpi") != std::string::npos) GTEST_SKIP() << "breaks MPI";
  const auto errors = errors_of_ranks(GetParam(), 2,
                                      [](Group group) {
                                        constexpr std::size_t kMessages = 5000;
                                        // 320 MB in total.
                                        constexpr std::size_t kLength = 16 * 1024;
                                        std::vector<float> data(kLength, 1.0f);
                                        if (group.rank() == 1) return group.recv(data, 0, 4);
                                        std::vector<Work> works;
                                        for (std::size_t i = 0; i < kMessages; ++i)
                                          works.push_back(group.isend(data, 1, 3));
                                        works.push_back(group.isend(data, 1, 4));
                                        for (Work& work : works) work.wait();
                                      },
                                      // Time to reach the limit of 64 MB on a busy machine.
                                      {.timeout = milliseconds(10'000)});
  EXPECT_THAT(errors[0] + errors[1], HasSubstr("which is the limit: receive"));
}

// The message that rank 0 waits for is in transit, but those behind it are not.
TEST_P(Messages, SenderBeyondTheLimitGetsTheLimitInItsError) {
  if (GetParam() != RankKind::gloo) GTEST_SKIP() << "others have sent the first long ago";
  const auto errors = errors_of_ranks(GetParam(), 2,
                                      [](Group group) {
                                        std::vector<float> data(16);
                                        if (group.rank() == 1)
                                          return std::this_thread::sleep_for(milliseconds(4000));
                                        std::vector<Work> works;
                                        for (int i = 0; i < 5000; ++i)
                                          works.push_back(group.isend(data, 1, 3));
                                        works.front().wait();
                                      },
                                      {.timeout = milliseconds(1000)});
  EXPECT_THAT(errors[0],
              HasSubstr("4096 messages, of which this is one, which is the limit: receive"));
}

/// The number of messages that may wait at the receiver over Gloo and MPI.
constexpr int kMostWaiting = 4096;

/// Rank 0 sends one message more than may wait, each with its own tag. Rank 1 receives the first
/// few of them, and then the others from the last to the first.
void send_one_too_many(Group& group, int few) {
  std::vector<std::int32_t> values(kMostWaiting + 1, -1);
  auto value = [&](int tag) { return std::span(values).subspan(static_cast<std::size_t>(tag), 1); };
  if (group.rank() == 0) {
    std::iota(values.begin(), values.end(), 0);
    std::vector<Work> works;
    for (int tag = 0; tag <= kMostWaiting; ++tag) works.push_back(group.isend(value(tag), 1, tag));
    for (Work& work : works) work.wait();
    return;
  }
  for (int tag = 0; tag < few; ++tag) group.recv(value(tag), 0, tag);
  for (int tag = kMostWaiting; tag >= few; --tag) group.recv(value(tag), 0, tag);
  for (int tag = 0; tag <= kMostWaiting; ++tag) EXPECT_EQ(value(tag)[0], tag);
}

// Below the limit nothing may stall, even if only a few messages have been received.
TEST_P(Messages, FinalMessageArrivesOnceOneWasReceived) {
  for (int few : {1, 63}) {
    run_ranks(GetParam(), 2,
              [few](Group group) {
                if (!idle(group)) send_one_too_many(group, few);
                group.barrier();
              },
              {.timeout = milliseconds(5'000)});
  }
}

TEST_P(Messages, SeveralThreadsMayWaitForOne) {
  run_ranks(GetParam(), 2, [](Group group) {
    if (idle(group)) return group.barrier();
    for (int round = 0; round < 50; ++round) {
      std::vector<float> values(100'000, static_cast<float>(round));
      if (group.rank() == 0) group.send(values, 1);
      if (group.rank() == 0) continue;
      std::fill(values.begin(), values.end(), -1.0f);
      Work work = group.irecv(values, 0);
      std::vector<std::thread> waiters;
      for (int i = 0; i < 4; ++i) waiters.emplace_back([work]() mutable { work.wait(); });
      for (std::thread& waiter : waiters) waiter.join();
      EXPECT_EQ(values.back(), static_cast<float>(round));
    }
    group.barrier();
  });
}

// After an error all arrays may be freed: the group's own thread must not use them any more.
TEST_P(Messages, ErrorEndsTheCollectiveOnTheGroupsThread) {
  if (testing::name_of(GetParam()).find("mpi") != std::string::npos) GTEST_SKIP() << "breaks MPI";
  const auto errors = errors_of_ranks(
      GetParam(), 2,
      [](Group group) {
        std::vector<float> values(2);
        try {
          if (group.rank() == 1) {
            group.send(std::span(values).subspan(0, 1), 0);
            group.recv(values, 0);
          }
          Work collective = group.all_reduce_async(values);  // rank 1 never calls it
          std::vector<float> other(2);
          EXPECT_THROW(group.recv(other, 1), MismatchError);
          collective.wait();
        } catch (const PeerLostError&) {
          // Long enough that rank 0 does not learn that this rank has left too.
          std::this_thread::sleep_for(milliseconds(1000));
          throw;
        }
      },
      {.timeout = milliseconds(20'000)});
  EXPECT_THAT(errors[0], HasSubstr("expected 8 bytes from rank 1"));
  EXPECT_THAT(errors[1], HasSubstr("rank 0"));
}

TEST_P(Messages, ExceptionThatDestroysAPendingReceiveLeavesTheGroup) {
  if (testing::name_of(GetParam()).find("mpi") != std::string::npos) GTEST_SKIP() << "breaks MPI";
  const auto errors = errors_of_ranks(GetParam(), 2,
                                      [](Group group) {
                                        std::vector<float> values(1);
                                        if (group.rank() == 1) return group.recv(values, 0);
                                        try {
                                          const Work work = group.irecv(values, 1);
                                          throw std::runtime_error("mine");
                                        } catch (const std::runtime_error&) {
                                        }
                                        group.send(values, 1);
                                      },
                                      {.timeout = milliseconds(20'000)});
  EXPECT_THAT(errors[0], HasSubstr("rank 0 has left the group: an exception"));
  EXPECT_THAT(errors[1], HasSubstr("left the group"));
}

// The message is still in its slot: the slot must not be given to another message.
TEST_P(Messages, DestroyedReceiveOfWrongLengthDoesNotAffectLaterOnes) {
  // Shared memory reports the wrong length to the next wait; MPI cannot end with an unreceived
  // message.
  if (GetParam() != RankKind::gloo) GTEST_SKIP();
  run_ranks(GetParam(), 2, [](Group group) {
    std::vector<std::int32_t> two{-1, -2};
    std::vector<std::int32_t> one(1);
    Work unreceived;
    if (group.rank() == 0) unreceived = group.isend(two, 1, 7);
    if (group.rank() == 1) group.irecv(one, 0, 7);
    group.barrier();
    for (std::int32_t i = 0; i < 10'000; ++i) {
      std::vector<std::int32_t> values{i, i};
      if (group.rank() == 0) {
        group.send(values, 1, 8);
      } else {
        values = {0, 0};
        group.recv(values, 0, 8);
        ASSERT_EQ(values, (std::vector<std::int32_t>{i, i}));
      }
    }
  });
}

}  // namespace
}  // namespace lockstep::internal
