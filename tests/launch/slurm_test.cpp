#include "launch/environment/slurm.h"

#include <lockstep/error.h>

#include "support/errors.h"

#include <gtest/gtest.h>

namespace lockstep::internal::launch {
namespace {

using Map = std::map<std::string, std::string>;

Variables from(Map values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

const Map kStep{{"SLURM_PROCID", "5"},
                {"SLURM_NTASKS", "64"},
                {"SLURM_STEP_NUM_TASKS", "8"},
                {"SLURM_LOCALID", "1"},
                {"SLURM_NODEID", "1"},
                {"SLURM_STEP_TASKS_PER_NODE", "4,2(x2)"},
                {"SLURM_JOB_ID", "1234567"},
                {"SLURM_JOB_NODELIST", "whole[1-9]"},
                {"SLURM_STEP_NODELIST", "node[03-05]"}};

TEST(Slurm, AStepsTasksAreRanks) {
  const Place place = find_place(from(kStep));
  EXPECT_EQ(place.rank, 5);
  EXPECT_EQ(place.size, 8);
  EXPECT_EQ(place.local_rank, 1);
  EXPECT_EQ(place.local_size, 2);
  EXPECT_EQ(place.bootstrap, Bootstrap::rank_zero);
  EXPECT_EQ(place.rendezvous.text(), "node03:30067");
}

TEST(Slurm, MasterOfTheUserHasPrecedence) {
  Map values = kStep;
  values["MASTER_ADDR"] = "10.0.0.1";
  values["MASTER_PORT"] = "4711";
  EXPECT_EQ(find_place(from(values)).rendezvous.text(), "10.0.0.1:4711");
}

TEST(Slurm, OneNodeStaysOnLoopback) {
  Map values = kStep;
  values["SLURM_STEP_NODELIST"] = "node03";
  EXPECT_EQ(find_place(from(values)).rendezvous.host, "127.0.0.1");
}

TEST(Slurm, AllocationOrBatchScriptIsAWorldOfOneRank) {
  EXPECT_EQ(find_place(from({{"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "7"}})).size, 1);
  EXPECT_EQ(find_place(from({{"SLURM_NTASKS", "8"},
                             {"SLURM_PROCID", "0"},
                             {"SLURM_JOB_NODELIST", "a,b"},
                             {"ENVIRONMENT", "BATCH"}}))
                .size,
            1);
  Map step_in_batch = kStep;
  step_in_batch["ENVIRONMENT"] = "BATCH";
  EXPECT_EQ(find_place(from(step_in_batch)).size, 8);
}

TEST(Slurm, RejectsInvalidValues) {
  auto place = [](Map values) { return [values] { find_place(from(values)); }; };
  using testing::expect_error;
  expect_error<UsageError>(place({{"SLURM_PROCID", "0"}}),
                           {"SLURM_PROCID is set but SLURM_NTASKS is not"});
  expect_error<UsageError>(place({{"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "2"}}),
                           {"a world of 2 has ranks 0 to 1"});
  expect_error<UsageError>(place({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}}),
                           {"SLURM_JOB_NODELIST is not", "MASTER_ADDR"});
  expect_error<UsageError>(
      place({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}, {"SLURM_JOB_NODELIST", "node[03"}}),
      {"'node[03' is not a list of nodes"});
}

TEST(Slurm, FindsTheFirstHostOfAList) {
  const Map cases{{"one", "one"},
                  {"a,b", "a"},
                  {"node[03-05,07],other2", "node03"},
                  {"node[7]", "node7"},
                  {"rack[2-3]node[10-12]-ib,x", "rack2node10-ib"},
                  {"n[1,5-9]", "n1"},
                  {"tux-0[1-4]", "tux-01"}};
  for (const auto& [nodes, host] : cases) EXPECT_EQ(first_host(nodes), host) << nodes;
  for (const char* nodes : {"", ",a", "a[", "a[]", "a]b", "a[x-3]", "a[-3]"})
    EXPECT_THROW(first_host(nodes), UsageError) << nodes;
}

TEST(Slurm, CountsTheTasksOfANode) {
  EXPECT_EQ(tasks_on_node("2(x3),1", 0), 2);
  EXPECT_EQ(tasks_on_node("2(x3),1", 2), 2);
  EXPECT_EQ(tasks_on_node("2(x3),1", 3), 1);
  EXPECT_FALSE(tasks_on_node("2(x3),1", 4));
  for (const char* text : {"", "x", "2(x", "2(x)", "2(x3", "(x3)"})
    EXPECT_FALSE(tasks_on_node(text, 0)) << text;
}

}  // namespace
}  // namespace lockstep::internal::launch
