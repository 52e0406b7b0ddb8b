// trace.json of a run: every rank, part, operation and gradient of its first iterations.
#include "support/temporary_folder.h"
#include "train/training.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <set>

namespace lockstep::internal::train {
namespace {

using nlohmann::json;
using testing::TemporaryFolder;

json events_of(const std::filesystem::path& folder) {
  std::ifstream file(folder / "trace.json");
  return json::parse(file).at("traceEvents");
}

std::vector<json> select(const json& events, std::string_view category, int rank) {
  std::vector<json> found;
  for (const json& event : events)
    if (event.value("cat", "") == category && event.at("pid") == rank) found.push_back(event);
  return found;
}

double begin_of(const json& event) {
  return event.at("ts");
}
double end_of(const json& event) {
  return begin_of(event) + event.value("dur", 0.0);
}

/// Whether one of `outer` contains it, up to rounding to nanoseconds.
bool within(const json& event, const std::vector<json>& outer) {
  for (const json& one : outer)
    if (begin_of(one) <= begin_of(event) + 0.01 && end_of(event) <= end_of(one) + 0.01) return true;
  return false;
}

json trace_of(TrainConfig config) {
  const TemporaryFolder folder;
  config.run_dir = folder.path();
  train_on_threads(config);
  return events_of(folder.path());
}

TrainConfig traced_job(int workers, const std::string& sync) {
  TrainConfig config = small_job();
  config.workers = workers;
  config.sync = sync;
  config.trace = 3;
  config.iterations = 5;
  return config;
}

TEST(Trace, HasTheFirstIterationsOfEveryRankInParts) {
  const json events = trace_of(traced_job(2, "ddp"));
  for (int rank : {0, 1}) {
    const std::vector<json> iterations = select(events, "iteration", rank);
    ASSERT_EQ(iterations.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(iterations[i].at("args").at("iteration"), i + 1);
    std::map<std::string, int> parts;
    for (const json& part : select(events, "part", rank)) {
      ++parts[part.at("name")];
      EXPECT_TRUE(within(part, iterations)) << part;
    }
    EXPECT_EQ(
        parts,
        (std::map<std::string, int>{
            {"data", 3}, {"forward", 3}, {"backward", 3}, {"synchronise", 3}, {"optimizer", 3}}));
  }
}

TEST(Trace, HasTheMomentOfEveryGradientWithOneWorkerToo) {
  for (int workers : {1, 2}) {
    const json events = trace_of(traced_job(workers, "ddp"));
    std::map<std::string, int> moments;
    std::vector<json> backward;
    for (const json& part : select(events, "part", 0))
      if (part.at("name") == "backward") backward.push_back(part);
    for (const json& gradient : select(events, "gradient", 0)) {
      ++moments[gradient.at("name")];
      EXPECT_TRUE(within(gradient, backward)) << gradient;
    }
    EXPECT_EQ(moments.size(), 10u);  // LeNet-5's parameters
    for (const auto& [name, count] : moments) EXPECT_EQ(count, 3) << name;
  }
}

TEST(Trace, GradientsOfTheLastLayerComeFirst) {
  const std::vector<json> gradients = select(trace_of(traced_job(1, "ddp")), "gradient", 0);
  ASSERT_GE(gradients.size(), 10u);
  EXPECT_TRUE(gradients[0].at("name").get<std::string>().starts_with("classifier")) << gradients[0];
  EXPECT_EQ(gradients[9].at("args").at("parameter").get<int>() < 2, true) << gradients[9];
}

TEST(Trace, HasTheOperationsOfTorchInForwardAndBackward) {
  TrainConfig job = traced_job(2, "ddp");
  job.engine = "torch";
  const json events = trace_of(job);
  for (int rank : {0, 1}) {
    const std::vector<json> iterations = select(events, "iteration", rank);
    std::set<std::string> names;
    for (const json& operation : select(events, "operation", rank)) {
      names.insert(operation.at("name"));
      EXPECT_TRUE(within(operation, iterations)) << operation;
    }
    EXPECT_TRUE(names.contains("aten::conv2d"));
    EXPECT_TRUE(names.contains("aten::convolution_backward"));
  }
}

TEST(Trace, HasTheCollectivesWithBytesAndAlgorithm) {
  const json events = trace_of(traced_job(2, "ring"));
  std::size_t rings = 0;
  for (const json& one : select(events, "collective", 1))
    if (one.at("args").at("algorithm") == "ring") {
      ++rings;
      EXPECT_GT(one.at("args").at("bytes"), 0);
    }
  EXPECT_EQ(rings, 30u);  // one for each of ten parameters and three iterations
}

TEST(Trace, HasTheMessagesOfP2p) {
  const json events = trace_of(traced_job(2, "p2p"));
  std::map<std::string, int> names;
  for (const json& message : select(events, "message", 1))
    if (message.at("ph") == "b") ++names[message.at("name")];
  EXPECT_GT(names["send"], 0);
  EXPECT_EQ(names["send"], names["recv"]);
}

TEST(Trace, IsNotWrittenWithTraceZero) {
  const TemporaryFolder folder;
  TrainConfig config = traced_job(2, "ddp");
  config.run_dir = folder.path();
  train_on_threads(config);
  config.trace = 0;
  train_on_threads(config);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "trace.json"));
}

TEST(Trace, MayBeLongerThanTheRun) {
  TrainConfig config = traced_job(2, "ddp");
  config.trace = 100;
  EXPECT_EQ(select(trace_of(config), "iteration", 1).size(), 5u);
}

TEST(Trace, ChangesNoWeights) {
  const TemporaryFolder folder;
  TrainConfig config = traced_job(2, "ddp");
  config.run_dir = folder.path();
  const run::Summary with = train_on_threads(config);
  EXPECT_FALSE(events_of(folder.path()).empty());
  config.trace = 0;
  EXPECT_EQ(train_on_threads(config).weights_sha256, with.weights_sha256);
}

}  // namespace
}  // namespace lockstep::internal::train
