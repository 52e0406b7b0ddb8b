// The timeline of one iteration, read from a trace.
#include "report/timeline.h"

#include <lockstep/error.h>

#include "report/run_files.h"
#include "support/errors.h"

#include <gtest/gtest.h>

namespace lockstep::internal::report {
namespace {

class TraceFile : public ::testing::Test {
 protected:
  Timeline read(const std::string& content, const TimelineLimits& limits = {}) {
    return read_timeline(put(folder_.path() / "trace.json", content), limits);
  }

  const testing::TemporaryFolder folder_;
};

nlohmann::json iteration(int rank, int number, double start, double length) {
  return {{"name", "iteration"}, {"cat", "iteration"},
          {"pid", rank},         {"tid", 0},
          {"ts", start},         {"dur", length},
          {"ph", "X"},           {"args", {{"iteration", number}}}};
}

std::string file_of(const std::vector<nlohmann::json>& events) {
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i ? ",\n" : "") + events[i].dump();
  return text + "\n]}\n";
}

TEST_F(TraceFile, HasALanePerRankAndStream) {
  const Timeline timeline = read(trace_of_run());
  EXPECT_EQ(timeline.json.at("iteration"), 2);
  EXPECT_EQ(timeline.json.at("microseconds"), 505);
  const nlohmann::json& lanes = timeline.json.at("lanes");
  ASSERT_EQ(lanes.size(), 4u);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(lanes[i].at("rank"), i / 2);
    EXPECT_EQ(lanes[i].at("stream"), i % 2 == 0 ? "training" : "communication");
  }
  const nlohmann::json training = R"([
    {"name": "forward", "kind": "part", "start": 0.0, "length": 200.0, "depth": 0},
    {"name": "conv", "kind": "operation", "start": 10.0, "length": 100.0, "depth": 1},
    {"name": "empty", "kind": "operation", "start": 20.0, "length": 1.0, "depth": 2},
    {"name": "backward", "kind": "part", "start": 200.0, "length": 100.0, "depth": 0}])"_json;
  EXPECT_EQ(lanes[0].at("spans"), training);
  EXPECT_EQ(lanes[0].at("marks"), R"([{"name": "fc.bias", "at": 290.0}])"_json);
  const nlohmann::json communication = R"([
    {"name": "all_reduce", "kind": "collective", "start": 305.0, "length": 100.0, "depth": 0,
     "bytes": 4000, "wait": 12.5, "detail": "ring"},
    {"name": "send", "kind": "message", "start": 315.0, "length": 40.0, "depth": 1, "bytes": 2000,
     "detail": "rank 1"}])"_json;
  EXPECT_EQ(lanes[3].at("spans"), communication);
  EXPECT_EQ(timeline.spans_left_out, 0u);
}

TEST_F(TraceFile, TheShortestOperationsAreLeftOutFirst) {
  const Timeline timeline = read(trace_of_run(), {.ranks = 1, .spans = 3});
  EXPECT_EQ(timeline.ranks_left_out, 1u);
  EXPECT_EQ(timeline.spans_left_out, 1u);
  const nlohmann::json& lanes = timeline.json.at("lanes");
  ASSERT_EQ(lanes.size(), 2u);
  ASSERT_EQ(lanes[0].at("spans").size(), 3u);
  for (const nlohmann::json& span : lanes[0].at("spans")) EXPECT_NE(span.at("name"), "empty");
}

TEST_F(TraceFile, ShowsTheMedianIterationWithoutTheFirst) {
  const auto shown = [&](std::initializer_list<double> lengths) {
    std::vector<nlohmann::json> events;
    int number = 0;
    for (double length : lengths) {
      ++number;
      events.push_back(iteration(0, number, 10000.0 * number, length));
    }
    return read(file_of(events)).json.at("iteration");
  };
  EXPECT_EQ(shown({9000}), 1);
  EXPECT_EQ(shown({50, 9000}), 2);
  EXPECT_EQ(shown({9000, 50, 70, 60}), 4);
  EXPECT_EQ(shown({9000, 10, 20, 30, 40, 50}), 4);
}

TEST_F(TraceFile, WithoutIterationsHasNoTimeline) {
  EXPECT_TRUE(read(file_of({})).json.is_null());
  EXPECT_TRUE(read("").json.is_null());
}

TEST_F(TraceFile, AMalformedLineIsNamed) {
  std::string text = trace_of_run();
  text.insert(text.find("\"forward\""), "{");
  testing::expect_error<FileError>([&] { read(text); }, {"trace.json: line ", "not a trace event"});
  testing::expect_error<FileError>([&] { read(file_of({iteration(4000, 1, 0, 1)})); },
                                   {"trace.json: line 2: 'pid' is not a rank"});
}

TEST_F(TraceFile, TruncatedAnywhereIsReadOrAnError) {
  const std::string whole = trace_of_run();
  for (std::size_t length = 0; length < whole.size(); length += 5) {
    try {
      read(whole.substr(0, length));
    } catch (const FileError& error) {
      EXPECT_NE(std::string(error.what()).find("trace.json: line "), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace lockstep::internal::report
