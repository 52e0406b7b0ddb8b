// How an elastic job ends: workers that hang, workers that come late, and which one is reported.
#include "launch/job.h"
#include "launch/membership_workers.h"

#include <gtest/gtest.h>

namespace lockstep::internal::launch {
namespace {

using std::chrono::milliseconds;

constexpr int kRight = 0, kWrong = 1, kLeftBehind = 3, kEnded = 5;

JobOptions elastic_job(int workers) {
  JobOptions job{.workers = workers, .overtime = milliseconds(1000)};
  job.nodes.elastic = true;
  return job;
}

MembershipOptions impatient() {
  MembershipOptions hasty = options();
  hasty.group.timeout = milliseconds(3000);
  hasty.reply_timeout = milliseconds(200);
  return hasty;
}

std::vector<pid_t> processes_in(Group& group) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(group.size()));
  group.all_gather(std::vector<std::int64_t>{::getpid()}, all);
  return {all.begin(), all.end()};
}

/// Worker 1 stops itself, and the others continue without it. Returns its process id, on the
/// others.
pid_t stop_worker_one(ElasticMembership& membership) {
  Group group = membership.first();
  const pid_t victim = processes_in(group)[1];
  if (rank() == 1) ::raise(SIGSTOP);
  try {
    group.barrier();
    throw InternalError("no worker was missing");
  } catch (const PeerLostError&) {
  } catch (const TimeoutError&) {
  }
  return victim;
}

const Outcome& outcome_of(const JobResult& result, int rank) {
  for (const Outcome& outcome : result.outcomes)
    if (outcome.rank == rank) return outcome;
  throw InternalError("no such rank");
}

TEST(ElasticJob, LateWorkerIsLeftBehind) {
  const JobResult result = run_forked(elastic_job(3), [] {
    ElasticMembership membership(impatient());
    const pid_t victim = stop_worker_one(membership);
    try {
      Group group = membership.again(1);
      if (numbers_in(group) != std::vector<int>{0, 2}) return kWrong;
      ::kill(victim, SIGCONT);
      while (::kill(victim, 0) == 0) ::usleep(1000);  // until it has ended
      membership.done();
      return kRight;
    } catch (const LeftBehindError& error) {
      const std::string text = error.what();
      return text.find("continued without rank 1") != std::string::npos ? kLeftBehind : kWrong;
    }
  });
  EXPECT_EQ(outcome_of(result, 0).code(), kRight);
  EXPECT_EQ(outcome_of(result, 1).code(), kLeftBehind);
  EXPECT_EQ(outcome_of(result, 2).code(), kRight);
  EXPECT_EQ(result.code(), 0);
}

TEST(ElasticJob, HangingWorkerIsEndedWithTheRun) {
  const JobResult result = run_forked(elastic_job(3), [] {
    ElasticMembership membership(impatient());
    stop_worker_one(membership);
    Group group = membership.again(1);
    if (numbers_in(group) != std::vector<int>{0, 2}) return kWrong;
    membership.done();
    return kRight;
  });
  EXPECT_EQ(outcome_of(result, 1).signal, SIGKILL);
  EXPECT_TRUE(outcome_of(result, 1).told);
  EXPECT_EQ(result.code(), 0);
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("rank 1"), std::string::npos);
}

TEST(ElasticJob, FinalFailureIsReported) {
  const JobResult result = run_forked(elastic_job(3), [] {
    ElasticMembership membership(options());
    {
      Group group = membership.first();
      if (rank() == 0) die();
      await_loss_of(group, 0);
    }
    {
      Group group = membership.again(0);
      if (rank() == 1) {
        group.barrier();
        return kRight;
      }
      group.barrier();
      await_loss_of(group, 1);
    }
    membership.end("because");
    return kEnded;
  });
  ASSERT_TRUE(result.first_failure);
  EXPECT_EQ(result.first_failure->rank, 2);
  EXPECT_EQ(result.code(), kEnded);
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("rank 0"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::internal::launch
