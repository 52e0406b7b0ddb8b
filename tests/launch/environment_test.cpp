#include "launch/environment.h"

#include <lockstep/error.h>

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace lockstep::launch {
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

TEST(Environment, WithoutVariablesIsAWorldOfOne) {
  const Place place = find_place(from({}));
  EXPECT_EQ(place.rank, 0);
  EXPECT_EQ(place.size, 1);
}

TEST(Environment, ReadsWhatTheLauncherSets) {
  const Place given{2, 4, {"127.0.0.1", 4711}, false};
  const Place found = find_place(from(variables_for(given)));
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.size, 4);
  EXPECT_EQ(found.rendezvous.text(), "127.0.0.1:4711");
  EXPECT_FALSE(found.rank_zero_serves);
}

TEST(Environment, ReadsTorchrunsVariablesWithTheirDefaults) {
  const Place place = find_place(from({{"RANK", "1"}, {"WORLD_SIZE", "2"}}));
  EXPECT_EQ(place.rank, 1);
  EXPECT_EQ(place.rendezvous.text(), "127.0.0.1:29500");
  EXPECT_TRUE(place.rank_zero_serves);
}

TEST(Environment, LeavesTorchrunsAgentItsPort) {
  const Place place = find_place(from({{"RANK", "1"},
                                       {"WORLD_SIZE", "2"},
                                       {"MASTER_PORT", "29500"},
                                       {"TORCHELASTIC_USE_AGENT_STORE", "True"}}));
  EXPECT_EQ(place.rendezvous.text(), "127.0.0.1:29501");
}

TEST(Environment, PrefersItsOwnVariables) {
  Map values = variables_for({3, 8, {"127.0.0.1", 1}, false});
  values["RANK"] = "0";
  values["WORLD_SIZE"] = "2";
  EXPECT_EQ(find_place(from(values)).rank, 3);
}

TEST(Environment, RefusesWhatMakesNoSense) {
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

TEST(Environment, RefusesLaunchersItDoesNotKnowYet) {
  EXPECT_THAT(refusal({{"OMPI_COMM_WORLD_SIZE", "4"}}), HasSubstr("started by mpirun"));
  EXPECT_THAT(refusal({{"SLURM_STEP_NUM_TASKS", "2"}}), HasSubstr("started by srun"));
  EXPECT_EQ(refusal({{"OMPI_COMM_WORLD_SIZE", "1"}}), "");
}

TEST(Environment, SharesOutTheCores) {
  EXPECT_GE(threads_per_worker(1), 1);
  EXPECT_EQ(threads_per_worker(100'000), 1);
}

TEST(Address, IsParsedAndKnowsLoopback) {
  EXPECT_EQ(Address::parse("127.0.0.1:80", "x").port, 80);
  EXPECT_THROW(Address::parse("127.0.0.1", "x"), UsageError);
  EXPECT_THROW(Address::parse("127.0.0.1:0", "x"), UsageError);
  EXPECT_TRUE((Address{"localhost", 1}.is_loopback()));
  EXPECT_TRUE((Address{"127.8.9.1", 1}.is_loopback()));
  EXPECT_FALSE((Address{"192.168.0.1", 1}.is_loopback()));
  EXPECT_THROW((Address{"nowhere", 1}.is_loopback()), UsageError);
}

}  // namespace
}  // namespace lockstep::launch
