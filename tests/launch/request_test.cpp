// Ranks with different requests: each learns the requests of all, before there is a group.
#include "launch/rendezvous/request.h"

#include <lockstep/error.h>
#include <lockstep/init.h>

#include "base/files.h"
#include "base/version.h"
#include "launch/job.h"
#include "launch/membership_workers.h"
#include "launch/rendezvous/store_client.h"
#include "launch/rendezvous/store_server.h"
#include "support/temporary_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

namespace lockstep::internal::launch {
namespace {

using testing::TemporaryFolder;

constexpr std::string_view kUnlike = "the ranks of this run were started differently: ";

/// The error of each rank of a launched run; empty for none.
std::vector<std::string> errors_of(JobOptions job, const std::function<void()>& body) {
  const TemporaryFolder folder;
  run_forked(job, [&] {
    std::string error;
    try {
      body();
    } catch (const std::exception& thrown) {
      error = thrown.what();
    }
    write_file(folder.path() / std::to_string(rank()), error);
    return error.empty() ? 0 : 1;
  });
  std::vector<std::string> errors;
  for (int i = 0; i < job.workers; ++i)
    errors.push_back(read_file(folder.path() / std::to_string(i)));
  return errors;
}

void expect_all(const std::vector<std::string>& errors, const std::string& difference) {
  for (const std::string& error : errors)
    EXPECT_TRUE(error.starts_with(std::string(kUnlike) + difference)) << error;
}

TEST(JoinRequest, AnotherTransportIsNamedOnAllRanks) {
  for (int other : {0, 2})
    expect_all(errors_of({.workers = 3},
                         [other] { init({.transport = rank() == other ? "gloo" : "shm"}); }),
               other == 0 ? "rank 0 had transport gloo; ranks 1 and 2 had transport shm."
                          : "ranks 0 and 1 had transport shm; rank 2 had transport gloo.");
}

TEST(JoinRequest, TransportOfTheEnvironmentIsCompared) {
  expect_all(errors_of({.workers = 2},
                       [] {
                         if (rank() == 1) ::setenv("LOCKSTEP_TRANSPORT", "gloo", 1);
                         init();
                       }),
             "rank 0 had transport auto; rank 1 had transport gloo.");
}

TEST(JoinRequest, NonElasticRankCannotJoinAnElasticRun) {
  JobOptions job{.workers = 2};
  job.nodes.elastic = true;
  for (int other : {0, 1})
    expect_all(errors_of(job,
                         [other] {
                           if (rank() == other)
                             init({.transport = "shm"});
                           else
                             ElasticMembership(options()).first();
                         }),
               other == 0 ? "rank 0 had a fixed group; rank 1 had a group "
                            "that may change (--elastic)."
                          : "rank 0 had a group that may change (--elastic); rank 1 had "
                            "a fixed group.");
}

TEST(JoinRequest, AnotherTransportIsNamedOnAllInitialElasticWorkers) {
  JobOptions job{.workers = 3};
  job.nodes.elastic = true;
  expect_all(
      errors_of(job, [] { ElasticMembership(options(rank() == 1 ? "gloo" : "shm")).first(); }),
      "ranks 0 and 2 had transport shm; rank 1 had transport gloo.");
}

/// The error of each rank, a thread, that has published a request and compares.
std::vector<std::string> errors_of_threads(
    std::size_t ranks, int workers, const std::function<void(comm::Store&, std::size_t)>& publish) {
  StoreServer server({"127.0.0.1", 0}, "");
  server.start();
  std::vector<std::string> errors(ranks);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < ranks; ++i)
    threads.emplace_back([&, i] {
      const Deadline deadline = Deadline::after(std::chrono::seconds(60));
      StoreClient store(server.address(), "", deadline);
      try {
        publish(store, i);
        require_same_requests(store, static_cast<int>(i), workers, false, deadline);
      } catch (const Error& error) {
        errors[i] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

/// Ranks with a request each.
std::vector<std::string> errors_of_requests(const std::vector<std::vector<std::string>>& requests,
                                            int workers) {
  return errors_of_threads(requests.size(), workers, [&](comm::Store& store, std::size_t rank) {
    publish_request(store, static_cast<int>(rank), requests[rank]);
  });
}

TEST(JoinRequest, ReasonOfARankThatCannotJoinReachesTheOthers) {
  for (const int failing : {0, 1, 2}) {
    const auto publish = [&](comm::Store& store, std::size_t i) {
      const auto rank = static_cast<int>(i);
      if (rank != failing) return publish_request(store, rank, {"the same"});
      publish_failure(store, rank, 3, "no table\nat all");
      throw Error("its own error");
    };
    const auto errors = errors_of_threads(3, 3, publish);
    for (int rank = 0; rank < 3; ++rank)
      EXPECT_EQ(errors[static_cast<std::size_t>(rank)],
                rank == failing
                    ? "its own error"
                    : fmt::format("rank {} cannot join the run: no table\nat all", failing));
  }
}

TEST(JoinRequest, AnotherVersionIsNamedFirst) {
  expect_all(errors_of_requests({{"Lockstep 1", "a", "b"}, {"Lockstep 2", "b"}}, 2),
             "rank 0 had Lockstep 1; rank 1 had Lockstep 2.");
  EXPECT_EQ(make_request(2, false, "shm").front(),
            fmt::format("Lockstep {} with sources {}", version(), source_digest()));
}

TEST(JoinRequest, DifferentRanksDoNotWaitForTheRest) {
  expect_all(errors_of_requests({{"a world of 3 ranks"}, {"a world of 2 ranks"}}, 3),
             "rank 0 had a world of 3 ranks; rank 1 had a world of 2 ranks.");
}

TEST(JoinRequest, RanksBeyondRankZerosWorldGetTheError) {
  const auto errors = errors_of_requests({{"a world of 2"}, {"a world of 2"}, {"a world of 4"}}, 2);
  EXPECT_EQ(errors[0] + errors[1], "");
  expect_all({errors[2]}, "rank 0 had a world of 2; rank 2 had a world of 4.");
}

TEST(JoinRequest, EqualRequestsAreNotAnError) {
  const std::vector<std::string> request = make_request(3, false, "shm");
  for (const std::string& error : errors_of_requests({request, request, request}, 3))
    EXPECT_EQ(error, "");
}

}  // namespace
}  // namespace lockstep::internal::launch
