// The operations reported to an observer of a group, and the counters while an operation runs.
#include <lockstep/group.h>

#include "base/deadline.h"
#include "base/thread_annotations.h"

#include <gtest/gtest.h>

#include <thread>

namespace lockstep::internal {
namespace {

/// The observed operations, from any thread.
class Seen {
 public:
  OperationObserver observer() {
    return [this](const ObservedOperation& operation) {
      const Lock lock(mutex_);
      all_.push_back(operation);
    };
  }
  std::vector<ObservedOperation> all() {
    const Lock lock(mutex_);
    return all_;
  }

 private:
  Mutex mutex_;
  std::vector<ObservedOperation> all_ GUARDED_BY(mutex_);
};

TEST(Observer, SeesCollectivesInOrder) {
  run_threads(2, [](Group group) {
    Seen seen;
    const double before = now_seconds();
    group.observe(seen.observer());
    std::vector<float> values(100, 1);
    Work first = group.all_reduce_async(values, ReduceOp::sum, Algorithm::ring);
    first.wait();
    group.broadcast(values);
    group.barrier();
    group.observe({});
    group.barrier();

    const std::vector<ObservedOperation> all = seen.all();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].name, "all_reduce");
    EXPECT_EQ(all[0].algorithm, Algorithm::ring);
    EXPECT_EQ(all[0].bytes, 400u);
    EXPECT_EQ(all[1].name, "broadcast");
    EXPECT_EQ(all[2].name, "barrier");
    double last = before;
    for (const ObservedOperation& one : all) {
      EXPECT_GE(one.begin, last);
      EXPECT_GE(one.end, one.begin);
      EXPECT_LE(one.wait, one.end - one.begin);
      EXPECT_EQ(one.peer, -1);
      last = one.end;
    }
    EXPECT_LE(last, now_seconds());
  });
}

TEST(Observer, SeesAMessageOnceWithItsPeer) {
  run_threads(2, [](Group group) {
    Seen seen;
    group.observe(seen.observer());
    std::vector<double> values(3, group.rank());
    if (group.rank() == 0) {
      group.send(values, 1);
    } else {
      Work work = group.irecv(values, 0);
      work.wait();
      work.wait();
    }
    group.observe({});
    const std::vector<ObservedOperation> all = seen.all();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].name, group.rank() == 0 ? "send" : "recv");
    EXPECT_EQ(all[0].peer, 1 - group.rank());
    EXPECT_EQ(all[0].bytes, 24u);
  });
}

TEST(Observer, SeesTheWaitForTheSlowestRank) {
  Seen seen;
  run_threads(2, [&](Group group) {
    group.observe(seen.observer());
    group.barrier();
    group.observe({});
  });
  // The rank that arrived first waited for the other.
  ASSERT_EQ(seen.all().size(), 2u);
  EXPECT_GT(seen.all()[0].wait + seen.all()[1].wait, 0);
}

TEST(Observer, CountsTheBytesOfARank) {
  run_threads(3, [](Group group) {
    Seen seen;
    group.observe(seen.observer());
    std::vector<float> all(30, 1), mine(10);
    group.reduce_scatter(all, mine);
    group.all_gather(mine, all);
    group.observe({});
    ASSERT_EQ(seen.all().size(), 2u);
    EXPECT_EQ(seen.all()[0].bytes, 120u);
    EXPECT_EQ(seen.all()[1].bytes, 40u);
  });
}

TEST(Observer, DoesNotSeeAFailedOperation) {
  Seen seen;
  EXPECT_ANY_THROW(run_threads(2, [&](Group group) {
    if (group.rank() == 0) group.observe(seen.observer());
    std::vector<float> values(group.rank() + 1u);
    group.all_reduce(values);
  }));
  EXPECT_TRUE(seen.all().empty());
}

/// Waits until an operation is running and counted.
void wait_for_seconds(Group& group) {
  const double before = group.counters().seconds;
  const Deadline deadline = Deadline::after(std::chrono::seconds(60));
  while (group.counters().seconds == before && !deadline.passed()) std::this_thread::yield();
}

TEST(Counters, CountTheRunningOperation) {
  run_threads(2, [](Group group) {
    std::vector<std::uint8_t> go(1);
    if (group.rank() == 1) {
      group.recv(go, 0);
      return group.barrier();
    }
    Work work = group.barrier_async();
    wait_for_seconds(group);
    const Counters during = group.counters();
    EXPECT_GT(during.seconds, 0);
    EXPECT_EQ(during.operations, 0u);
    group.send(go, 1);
    work.wait();
    EXPECT_GE(group.counters().seconds, during.seconds);
    EXPECT_EQ(group.counters().seconds,
              group.counters().seconds);  // no operation is running any more
  });
}

}  // namespace
}  // namespace lockstep::internal
