#include "predict/fit.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <gmock/gmock.h>

namespace lockstep::internal::predict {
namespace {

using comm::Operation;

const NetworkModel kTruth{
    .name = "truth",
    .latency = 30e-6,
    .per_byte = 0.7e-9,
    .per_added = 0.2e-9,
    .agreement = 45e-6,
    .per_peer = 4e-6,
    .message_cores = 2};  // with 1, only the sum of beta and gamma can be determined

std::vector<Measurement> measured(const NetworkModel& network, int cores) {
  std::vector<Measurement> measurements;
  auto add = [&](const Collective& what, int ranks) {
    const comm::RecordedWorld world{ranks, 1};
    measurements.push_back({what, world, cost_of(what, world, network).seconds(network, cores)});
  };
  for (int ranks : {2, 4}) {
    add({Operation::barrier}, ranks);
    for (Algorithm algorithm : {Algorithm::ring, Algorithm::tree, Algorithm::star})
      for (double bytes : {4e3, 64e3, 1e6, 16e6})
        add({Operation::all_reduce, algorithm, bytes}, ranks);
  }
  return measurements;
}

NetworkModel guess() {
  return {.name = "found",
          .latency = 1e-6,
          .per_byte = 1e-9,
          .per_added = 1e-9,
          .meeting = 5e-6,
          .message_cores = 2};
}

TEST(Fits, FindTheNumbersThatMadeTheTimes) {
  const Fit found = fit(guess(), 2, measured(kTruth, 2));
  EXPECT_NEAR(found.network.latency, kTruth.latency, 1e-3 * kTruth.latency);
  EXPECT_NEAR(found.network.per_byte, kTruth.per_byte, 1e-3 * kTruth.per_byte);
  EXPECT_NEAR(found.network.per_added, kTruth.per_added, 1e-2 * kTruth.per_added);
  EXPECT_NEAR(found.network.agreement, kTruth.agreement, 1e-3 * kTruth.agreement);
  EXPECT_NEAR(found.network.per_peer, kTruth.per_peer, 1e-2 * kTruth.per_peer);
  EXPECT_LT(found.median_error(), 1e-3);
  // No measurement depends on the time of a meeting.
  EXPECT_EQ(found.network.meeting, 5e-6);
}

TEST(Fits, TolerateOutliers) {
  std::vector<Measurement> measurements = measured(kTruth, 2);
  measurements[3].seconds *= 8;
  measurements[12].seconds *= 5;
  const Fit found = fit(guess(), 2, measurements);
  EXPECT_NEAR(found.network.per_byte, kTruth.per_byte, 0.1 * kTruth.per_byte);
  EXPECT_LT(found.median_error(), 0.05);
}

TEST(Fits, FindTheSizeOfCaches) {
  NetworkModel truth = kTruth;
  truth.cache = 8 << 20;
  truth.far = 2;
  const NetworkModel found = fit(guess(), 2, measured(truth, 2)).network;
  EXPECT_EQ(found.cache, truth.cache);
  EXPECT_EQ(found.far, truth.far);
  EXPECT_NEAR(found.per_byte, truth.per_byte, 1e-3 * truth.per_byte);
}

TEST(Fits, DoNotTakeNoiseForCaches) {
  std::vector<Measurement> measurements = measured(kTruth, 2);
  for (std::size_t i = 0; i < measurements.size(); ++i)
    measurements[i].seconds *= 1 + 0.1 * std::sin(static_cast<double>(7 * i + 3));
  EXPECT_EQ(fit(guess(), 2, measurements).network.far, 0);
}

TEST(Fits, HaveNoNegativeNumbers) {
  NetworkModel without = kTruth;
  without.per_added = 0;
  std::vector<Measurement> measurements = measured(without, 2);
  for (std::size_t i = 0; i < measurements.size(); ++i)
    measurements[i].seconds *= i % 2 == 0 ? 1.1 : 0.9;
  const NetworkModel found = fit(guess(), 2, measurements).network;
  for (double number : {found.latency, found.per_byte, found.per_added, found.agreement})
    EXPECT_GE(number, 0);
}

TEST(Fits, NeedEnoughMeasurements) {
  EXPECT_THROW(fit(guess(), 2, {}), UsageError);
}

TEST(Fits, AreKeptInFiles) {
  const testing::TemporaryFolder folder;
  EXPECT_FALSE(load_fit(folder.path(), "found"));
  const Fit found = fit(guess(), 2, measured(kTruth, 2));
  save_fit(folder.path() / "new", found);
  const std::optional<Fit> again = load_fit(folder.path() / "new", "found");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->network, found.network);
  EXPECT_EQ(again->cores, 2);
  EXPECT_EQ(again->measurements.size(), found.measurements.size());
  EXPECT_EQ(again->median_error(), found.median_error());
}

TEST(Fits, InDamagedFilesAreRefused) {
  const testing::TemporaryFolder folder;
  for (const char* text : {"", "{", "[]", "{\"network\": {\"name\": 3}}", "{\"network\": {}}"}) {
    write_file(folder.path() / "bad.json", text);
    EXPECT_THROW(load_fit(folder.path(), "bad"), FileError) << text;
  }
  nlohmann::json json{{"network", to_json(kTruth)}, {"cores", 2}, {"measurements", {}}};
  for (const char* name : {"far", "message_cores"}) {
    auto without = json;
    without["network"].erase(name);
    write_file(folder.path() / "bad.json", without.dump());
    testing::expect_error<FileError>([&] { load_fit(folder.path(), "bad"); }, {name, "fit again"});
  }
  auto odd = json;
  odd["network"]["message_cores"] = 0.5;
  write_file(folder.path() / "bad.json", odd.dump());
  testing::expect_error<FileError>([&] { load_fit(folder.path(), "bad"); }, {"message_cores"});
  json["network"]["beta"] = -1e-9;
  write_file(folder.path() / "bad.json", json.dump());
  testing::expect_error<FileError>([&] { load_fit(folder.path(), "bad"); }, {"beta", "-1e-09"});
}

}  // namespace
}  // namespace lockstep::internal::predict
