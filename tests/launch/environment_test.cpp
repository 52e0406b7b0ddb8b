#include "launch/environment/environment.h"

#include <lockstep/error.h>

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace lockstep::internal::launch {
namespace {

using ::testing::HasSubstr;
using Map = std::map<std::string, std::string>;

Variables from(Map values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

std::string refusal(const Map& values) {
  try {
    find_place(from(values));
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(Environment, WithoutVariablesIsAWorldOfOneRank) {
  const Place place = find_place(from({}));
  EXPECT_EQ(place.rank, 0);
  EXPECT_EQ(place.size, 1);
  EXPECT_EQ(place.bootstrap, Bootstrap::none);
  EXPECT_FALSE(place.local_rank);
}

TEST(Environment, ReadsTheLaunchersVariables) {
  Place given;
  given.rank = 2;
  given.size = 4;
  given.rendezvous = {"127.0.0.1", 4711};
  given.local_rank = 0;
  given.local_size = 2;
  given.token = "secret";
  given.transport = "gloo";
  given.interface = "eth0";
  const Place found = find_place(from(variables_for(given)));
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.size, 4);
  EXPECT_EQ(found.rendezvous.text(), "127.0.0.1:4711");
  EXPECT_EQ(found.bootstrap, Bootstrap::launcher);
  EXPECT_EQ(found.local_rank, 0);
  EXPECT_EQ(found.local_size, 2);
  EXPECT_EQ(found.token, "secret");
  EXPECT_EQ(found.transport, "gloo");
  EXPECT_EQ(found.interface, "eth0");
}

TEST(Environment, ReadsTorchrunsVariablesWithTheirDefaults) {
  const Place place = find_place(from({{"RANK", "1"}, {"WORLD_SIZE", "2"}}));
  EXPECT_EQ(place.rank, 1);
  EXPECT_EQ(place.rendezvous.text(), "127.0.0.1:29500");
  EXPECT_EQ(place.bootstrap, Bootstrap::rank_zero);
}

TEST(Environment, LeavesTorchrunsAgentItsPort) {
  const Place place = find_place(from({{"RANK", "1"},
                                       {"WORLD_SIZE", "2"},
                                       {"MASTER_PORT", "29500"},
                                       {"TORCHELASTIC_USE_AGENT_STORE", "True"}}));
  EXPECT_EQ(place.rendezvous.text(), "127.0.0.1:29501");
}

TEST(Environment, PrefersItsOwnVariables) {
  Map values{{"LOCKSTEP_RANK", "3"},
             {"LOCKSTEP_WORLD_SIZE", "8"},
             {"LOCKSTEP_RENDEZVOUS", "127.0.0.1:1"},
             {"OMPI_COMM_WORLD_RANK", "1"},
             {"OMPI_COMM_WORLD_SIZE", "2"}};
  values["RANK"] = "0";
  values["WORLD_SIZE"] = "2";
  EXPECT_EQ(find_place(from(values)).rank, 3);
}

TEST(Environment, RejectsInvalidValues) {
  EXPECT_THAT(refusal({{"RANK", "1"}}), HasSubstr("RANK is set but WORLD_SIZE is not"));
  EXPECT_THAT(refusal({{"LOCKSTEP_WORLD_SIZE", "1"}}),
              HasSubstr("LOCKSTEP_WORLD_SIZE is set but LOCKSTEP_RANK is not"));
  EXPECT_THAT(refusal({{"RANK", "4"}, {"WORLD_SIZE", "4"}}),
              HasSubstr("a world of 4 has ranks 0 to 3"));
  EXPECT_THAT(refusal({{"RANK", "0"}, {"WORLD_SIZE", "0"}}), HasSubstr("WORLD_SIZE is '0'"));
  EXPECT_THAT(refusal({{"RANK", "-1"}, {"WORLD_SIZE", "2"}}), HasSubstr("RANK is '-1'"));
  EXPECT_THAT(refusal({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "99999"}}),
              HasSubstr("MASTER_PORT is '99999'"));
  EXPECT_THAT(refusal({{"LOCKSTEP_RANK", "0"}, {"LOCKSTEP_WORLD_SIZE", "2"}}),
              HasSubstr("LOCKSTEP_RENDEZVOUS is not"));
}

TEST(Environment, ReadsTheNumberOfRestarts) {
  EXPECT_EQ(restarts_so_far(from({})), 0);
  EXPECT_EQ(restarts_so_far(from({{"LOCKSTEP_RESTART", "3"}})), 3);
  EXPECT_THROW(restarts_so_far(from({{"LOCKSTEP_RESTART", "often"}})), UsageError);
  EXPECT_THROW(restarts_so_far(from({{"LOCKSTEP_RESTART", "-1"}})), UsageError);
}

TEST(Environment, ReadsTheInitialNumberOfElasticWorkers) {
  EXPECT_EQ(elastic_workers(from({})), std::nullopt);
  EXPECT_EQ(elastic_workers(from({{"LOCKSTEP_ELASTIC", "4"}})), 4);
  EXPECT_THROW(elastic_workers(from({{"LOCKSTEP_ELASTIC", "0"}})), UsageError);
}

TEST(Environment, RejectsContradictingLocalRanks) {
  const Map world{{"RANK", "0"}, {"WORLD_SIZE", "4"}};
  auto with = [&](Map more) {
    more.insert(world.begin(), world.end());
    return refusal(more);
  };
  EXPECT_THAT(with({{"LOCAL_WORLD_SIZE", "5"}}), HasSubstr("LOCAL_WORLD_SIZE is '5'"));
  EXPECT_THAT(with({{"LOCAL_WORLD_SIZE", "2"}, {"LOCAL_RANK", "2"}}),
              HasSubstr("LOCAL_RANK is '2': it must be a whole number from 0 to 1"));
  EXPECT_EQ(with({{"LOCAL_RANK", "3"}}), "");
}

TEST(Environment, ReadsOpenMpisVariables) {
  const Place place = find_place(from({{"OMPI_COMM_WORLD_RANK", "3"},
                                       {"OMPI_COMM_WORLD_SIZE", "4"},
                                       {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                       {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                       {"PMI_RANK", "0"},
                                       {"PMI_SIZE", "9"}}));
  EXPECT_EQ(place.rank, 3);
  EXPECT_EQ(place.size, 4);
  EXPECT_EQ(place.bootstrap, Bootstrap::mpi);
  EXPECT_EQ(place.local_rank, 1);
  EXPECT_EQ(place.local_size, 2);
  EXPECT_THAT(refusal({{"OMPI_COMM_WORLD_RANK", "0"}}),
              HasSubstr("OMPI_COMM_WORLD_RANK is set but OMPI_COMM_WORLD_SIZE is not"));
  EXPECT_EQ(
      find_place(from({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}})).bootstrap,
      Bootstrap::none);
}

TEST(Environment, ReadsPmisVariables) {
  const Place mpich = find_place(from(
      {{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "2"}}));
  EXPECT_EQ(mpich.rank, 2);
  EXPECT_EQ(mpich.bootstrap, Bootstrap::mpi);
  EXPECT_EQ(mpich.local_rank, 0);
  EXPECT_EQ(mpich.local_size, 2);
  const Place other =
      find_place(from({{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}, {"PMI_LOCAL_RANK", "1"}}));
  EXPECT_EQ(other.local_rank, 1);
  EXPECT_THAT(refusal({{"PMI_SIZE", "2"}}), HasSubstr("PMI_SIZE is set but PMI_RANK is not"));
  EXPECT_THAT(refusal({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}}),
              HasSubstr("a world of 2 has ranks 0 to 1"));
}

TEST(Address, IsParsedAndKnowsLoopback) {
  EXPECT_EQ(Address::parse("127.0.0.1:80", "x").port, 80);
  EXPECT_THROW(Address::parse("127.0.0.1", "x"), UsageError);
  EXPECT_THROW(Address::parse("127.0.0.1:0", "x"), UsageError);
  EXPECT_TRUE((Address{"localhost", 1}.is_loopback()));
  EXPECT_TRUE((Address{"127.8.9.1", 1}.is_loopback()));
  EXPECT_FALSE((Address{"192.168.0.1", 1}.is_loopback()));
  EXPECT_THROW((Address{"no..where", 1}.is_loopback()), UsageError);
}

}  // namespace
}  // namespace lockstep::internal::launch
