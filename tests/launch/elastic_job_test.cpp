// How a job ends whose workers go on without some: who hangs, who comes late, who is to blame.
#include "launch/job.h"
#include "launch/muster_workers.h"

#include <gtest/gtest.h>

namespace lockstep::launch {
namespace {

using std::chrono::milliseconds;

constexpr int kRight = 0, kWrong = 1, kLeftBehind = 3, kEnded = 5;

JobOptions elastic_job(int workers) {
  JobOptions job{.workers = workers, .overtime = milliseconds(1000)};
  job.nodes.elastic = true;
  return job;
}

MusterOptions impatient() {
  MusterOptions hasty = options();
  hasty.group.timeout = milliseconds(3000);
  hasty.patience_with_lost = milliseconds(200);
  return hasty;
}

std::vector<pid_t> processes_in(Group& group) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(group.size()));
  group.all_gather(std::vector<std::int64_t>{::getpid()}, all);
  return {all.begin(), all.end()};
}

/// Worker 1 stops itself, and the others go on without it. Returns its process, on these.
pid_t stop_worker_one(Muster& muster) {
  Group group = muster.first();
  const pid_t victim = processes_in(group)[1];
  if (rank() == 1) ::raise(SIGSTOP);
  try {
    group.barrier();
    throw InternalError("nobody was missing");
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

TEST(ElasticJob, WhoComesLateIsLeftBehind) {
  const JobResult result = run_forked(elastic_job(3), [] {
    Muster muster(impatient());
    const pid_t victim = stop_worker_one(muster);
    try {
      Group group = muster.again(1);
      if (numbers_in(group) != std::vector<int>{0, 2}) return kWrong;
      ::kill(victim, SIGCONT);
      while (::kill(victim, 0) == 0) ::usleep(1000);  // until it has ended
      muster.done();
      return kRight;
    } catch (const LeftBehindError& error) {
      const std::string text = error.what();
      return text.find("gone on without rank 1") != std::string::npos ? kLeftBehind : kWrong;
    }
  });
  EXPECT_EQ(outcome_of(result, 0).code(), kRight);
  EXPECT_EQ(outcome_of(result, 1).code(), kLeftBehind);
  EXPECT_EQ(outcome_of(result, 2).code(), kRight);
  EXPECT_EQ(result.code(), 0);
}

TEST(ElasticJob, WhoHangsIsEndedWhenTheRunIsOver) {
  const JobResult result = run_forked(elastic_job(3), [] {
    Muster muster(impatient());
    stop_worker_one(muster);
    Group group = muster.again(1);
    if (numbers_in(group) != std::vector<int>{0, 2}) return kWrong;
    muster.done();
    return kRight;
  });
  EXPECT_EQ(outcome_of(result, 1).signal, SIGKILL);
  EXPECT_TRUE(outcome_of(result, 1).told);
  EXPECT_EQ(result.code(), 0);
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("rank 1"), std::string::npos);
}

TEST(ElasticJob, TheLastFailureIsToBlame) {
  const JobResult result = run_forked(elastic_job(3), [] {
    Muster muster(options());
    {
      Group group = muster.first();
      if (rank() == 0) die();
      await_loss_of(group, 0);
    }
    {
      Group group = muster.again(0);
      if (rank() == 1) {
        group.barrier();
        return kRight;
      }
      group.barrier();
      await_loss_of(group, 1);
    }
    muster.end("because");
    return kEnded;
  });
  ASSERT_TRUE(result.first_failure);
  EXPECT_EQ(result.first_failure->rank, 2);
  EXPECT_EQ(result.code(), kEnded);
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("rank 0"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::launch
