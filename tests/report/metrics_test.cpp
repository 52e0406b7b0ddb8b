// Reading metrics.jsonl, including malformed files.
#include "report/metrics.h"

#include <lockstep/error.h>

#include "report/run_files.h"
#include "support/errors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace lockstep::internal::report {
namespace {

class MetricsFile : public ::testing::Test {
 protected:
  Metrics read(const std::string& content) {
    return read_metrics(put(folder_.path() / "metrics.jsonl", content));
  }
  void expect_refused(const std::string& content, std::initializer_list<std::string_view> parts) {
    testing::expect_error<FileError>([&] { read(content); }, parts);
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(MetricsFile, HasTheCurvesOfEveryRank) {
  const Metrics metrics = read(metrics_of_run());
  ASSERT_EQ(metrics.ranks.size(), 2u);
  const RankMetrics& rank = metrics.ranks.at(1);
  ASSERT_EQ(rank.iterations.size(), 20u);
  EXPECT_EQ(rank.iterations.at[9], 10);
  EXPECT_DOUBLE_EQ(rank.iterations.first[9], 1.0 / 11);
  EXPECT_EQ(rank.iterations.second[9], 0.002);
  EXPECT_EQ(rank.epochs.at, (std::vector<double>{1, 2}));
  EXPECT_EQ(rank.epochs.first, (std::vector<double>{1, 0.5}));
  EXPECT_EQ(rank.epochs.second, (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(metrics.last_iteration, 20u);
  ASSERT_TRUE(metrics.test);
  EXPECT_EQ(metrics.test->loss, 0.9);
  EXPECT_EQ(metrics.test->iteration, 20u);
}

TEST_F(MetricsFile, MeanTimesExcludeTheFirstIteration) {
  const Metrics metrics = read(metrics_of_run());
  EXPECT_NEAR(metrics.mean_times().total, 0.002, 1e-15);
  EXPECT_NEAR(metrics.mean_times().backward, 0.0002, 1e-15);
  EXPECT_NEAR(read(metrics_line("iteration", 0, 1, 1, 2, 0.5)).mean_times().total, 0.5, 1e-15);
}

TEST_F(MetricsFile, MayBeEmpty) {
  const Metrics metrics = read("");
  EXPECT_TRUE(metrics.ranks.empty());
  EXPECT_EQ(metrics.mean_times().total, 0);
  EXPECT_EQ(metrics.last_iteration, 0u);
}

TEST_F(MetricsFile, ADivergedLossIsNaN) {
  const Metrics metrics = read(metrics_line("iteration", 0, 1, 1, nullptr, 0.5));
  EXPECT_TRUE(std::isnan(metrics.ranks.at(0).iterations.first[0]));
}

TEST_F(MetricsFile, LinesOfUnknownKindsAreSkipped) {
  EXPECT_TRUE(read("{\"kind\": \"weather\", \"temperature\": 17}\n").ranks.empty());
}

TEST_F(MetricsFile, TruncatedAnywhereKeepsAllWholeLines) {
  const std::string whole = metrics_line("iteration", 0, 1, 1, 2.5, 0.5) +
                            metrics_line("iteration", 1, 1, 1, 2.25, 0.5) +
                            metrics_line("iteration", 0, 1, 2, 1.5, 0.25);
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const std::string part = whole.substr(0, length);
    const auto lines = static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
    std::size_t points = 0;
    for (const auto& [rank, its] : read(part).ranks) points += its.iterations.size();
    EXPECT_GE(points, lines) << length;
    EXPECT_LE(points, lines + 1) << length;  // a line that lacks only its end is whole
  }
}

TEST_F(MetricsFile, AMalformedLineIsNamed) {
  const std::string good = metrics_line("iteration", 0, 1, 1, 2.5, 0.5);
  expect_refused(good + "{\"kind\":\"itera\n" + good, {"metrics.jsonl: line 2: not valid JSON"});
  expect_refused(good + good + "nonsense\n", {"metrics.jsonl: line 3: not valid JSON"});
  expect_refused("[]\n", {"line 1: contains a list"});
  expect_refused("7\n", {"line 1: not an object"});
  expect_refused("{}\n", {"line 1: 'kind' is missing"});
  expect_refused("{\"kind\": 3}\n", {"line 1: 'kind' is missing or not a string"});
}

TEST_F(MetricsFile, ValuesOutOfBoundsAreNamed) {
  const auto with = [](const char* field, nlohmann::json value) {
    nlohmann::json line = nlohmann::json::parse(metrics_line("iteration", 0, 1, 1, 2.5, 0.5));
    line[field] = std::move(value);
    return line.dump() + "\n";
  };
  expect_refused(with("rank", -1), {"'rank' is negative"});
  expect_refused(with("rank", 1e6), {"'rank' is too large"});
  expect_refused(with("rank", 0.5), {"'rank' is not a whole number"});
  expect_refused(with("iteration", 1e300), {"'iteration' is too large"});
  expect_refused(with("iteration", nullptr), {"'iteration' is not a number"});
  expect_refused(with("total", "fast"), {"'total' is not a number"});
  expect_refused(with("total", true), {"'total' is not a number"});
  expect_refused(with("total", -0.1), {"'total' is negative"});
  expect_refused(with("loss", {1, 2}), {"contains a list"});
  expect_refused(with("loss", nlohmann::json::object()), {"contains a nested object"});
  nlohmann::json line = nlohmann::json::parse(metrics_line("epoch", 0, 1, 1, 2.5, 0.5));
  line.erase("backward");
  expect_refused(line.dump() + "\n", {"line 1: 'backward' is missing"});
}

TEST_F(MetricsFile, AVeryLongLineIsRefused) {
  expect_refused(std::string(3 << 20, 'x'), {"line 1: longer than any line that Lockstep writes"});
}

TEST_F(MetricsFile, AnyChangedByteIsReadOrAnError) {
  const std::string whole = metrics_line("iteration", 0, 1, 1, 2.5, 0.5);
  for (std::size_t place = 0; place < whole.size(); ++place)
    for (char byte : {'\0', '"', '{', '}', ',', '9', '-', '\xff', '\n'}) {
      std::string changed = whole;
      changed[place] = byte;
      try {
        read(changed);
      } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find("metrics.jsonl: line "), std::string::npos)
            << error.what();
      }
    }
}

TEST_F(MetricsFile, AMissingFileIsNamed) {
  testing::expect_error<FileError>([&] { read_metrics(folder_.path() / "metrics.jsonl"); },
                                   {"metrics.jsonl: cannot open: No such file"});
}

}  // namespace
}  // namespace lockstep::internal::report
