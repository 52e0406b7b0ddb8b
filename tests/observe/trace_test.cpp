// Recording a trace, and writing it in Chrome's format.
#include "observe/trace.h"

#include "observe/clock_offset.h"
#include "run/trace_file.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <thread>

namespace lockstep::internal::observe {
namespace {

using run::chrome_events;
using run::chrome_trace;
using run::TraceOrigin;

nlohmann::json parsed(const std::vector<TraceEvent>& events, const TraceOrigin& origin) {
  const std::vector<std::string> texts{chrome_events(events, origin)};
  return nlohmann::json::parse(chrome_trace(texts)).at("traceEvents");
}

/// The events of a phase, in their order.
std::vector<nlohmann::json> of_phase(const nlohmann::json& events, std::string_view phase) {
  std::vector<nlohmann::json> found;
  for (const auto& event : events)
    if (event.at("ph") == phase) found.push_back(event);
  return found;
}

TEST(Span, AddsToItsSumAndToItsTrace) {
  Trace trace;
  double sum = 1;
  { Span span(sum, &trace, "forward"); }
  { Span span(sum); }
  const std::vector<TraceEvent> events = trace.events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].name, "forward");
  EXPECT_EQ(events[0].kind, EventKind::part);
  EXPECT_GE(sum, 1 + events[0].end - events[0].begin);
}

TEST(Trace, CopiesNames) {
  Trace trace;
  for (std::string name : {"features.0.weight", "", "aten::conv2d", "features.0.weight"}) {
    trace.add({.name = name});
    name.assign(name.size(), 'x');
  }
  const std::vector<TraceEvent> events = trace.events();
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].name, "features.0.weight");
  EXPECT_EQ(events[1].name, "");
  EXPECT_EQ(events[2].name, "aten::conv2d");
  EXPECT_EQ(events[3].name.data(), events[0].name.data());
}

TEST(Trace, CountsEventsBeyondItsCapacity) {
  Trace trace(3);
  for (int i = 0; i < 5; ++i) trace.add({.number = i});
  ASSERT_EQ(trace.events().size(), 3u);
  EXPECT_EQ(trace.events()[2].number, 2);
  EXPECT_EQ(trace.left_out(), 2u);
}

TEST(Trace, AcceptsMoreNamesThanItCanKeep) {
  Trace trace;
  for (int i = 0; i < 10000; ++i) trace.add({.name = std::to_string(i) + std::string(300, 'n')});
  const std::vector<TraceEvent> events = trace.events();
  EXPECT_EQ(events[0].name, "0" + std::string(300, 'n'));
  EXPECT_EQ(events.back().name, "(another)");
}

TEST(Trace, AcceptsEventsFromManyThreads) {
  Trace trace;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&trace, i] {
      for (int event = 0; event < 1000; ++event) trace.add({.name = "x", .number = i});
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(trace.events().size(), 4000u);
}

TEST(ChromeTrace, NamesItsRows) {
  const auto rows = of_phase(parsed({}, {.rank = 3, .host = "node7"}), "M");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("args").at("name"), "rank 3 on node7");
  EXPECT_EQ(rows[1].at("args").at("name"), "training");
  EXPECT_EQ(rows[2].at("args").at("name"), "communication");
  for (const auto& row : rows) EXPECT_EQ(row.at("pid"), 3);
}

TEST(ChromeTrace, HasMicrosecondsOnTheTracesClock) {
  const auto events = of_phase(parsed({{.kind = EventKind::iteration,
                                        .name = "iteration",
                                        .begin = 5,
                                        .end = 5.25,
                                        .number = 9}},
                                      {.rank = 0, .host = "", .shift = -4.5}),
                               "X");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_DOUBLE_EQ(events[0].at("ts"), 500000);
  EXPECT_DOUBLE_EQ(events[0].at("dur"), 250000);
  EXPECT_EQ(events[0].at("args").at("iteration"), 9);
  EXPECT_EQ(events[0].at("cat"), "iteration");
}

TEST(ChromeTrace, KeepsCommunicationInItsOwnRow) {
  const auto events = parsed({{.kind = EventKind::part, .name = "backward"},
                              {.kind = EventKind::operation, .name = "aten::conv2d"},
                              {.kind = EventKind::collective,
                               .name = "all_reduce",
                               .end = 5e-6,
                               .bytes = 8,
                               .number = -1,
                               .detail = "ring"}},
                             {});
  const auto spans = of_phase(events, "X");
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].at("tid"), 0);
  EXPECT_EQ(spans[1].at("tid"), 0);
  EXPECT_EQ(spans[2].at("tid"), 1);
  EXPECT_EQ(spans[2].at("args"),
            (nlohmann::json{{"bytes", 8}, {"algorithm", "ring"}, {"wait_us", 0.0}}));
}

TEST(ChromeTrace, ACollectiveHasItsBucketAndAWaitEvent) {
  const auto spans = of_phase(parsed({{.kind = EventKind::collective,
                                       .name = "all_reduce",
                                       .begin = 1,
                                       .end = 4,
                                       .number = 3,
                                       .wait = 2}},
                                     {.rank = 1, .host = ""}),
                              "X");
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].at("args").at("bucket"), 3);
  EXPECT_EQ(spans[1].at("name"), "wait");
  EXPECT_EQ(spans[1].at("dur"), 2e6);
  for (const char* same : {"pid", "tid", "ts"}) EXPECT_EQ(spans[1].at(same), spans[0].at(same));
}

TEST(ChromeTrace, OverlappingMessagesAreSeparatePairs) {
  const TraceEvent one{
      .kind = EventKind::message, .name = "send", .begin = 1, .end = 3, .bytes = 4, .number = 2};
  TraceEvent other = one;
  other.begin = 2;
  other.end = 4;
  const auto events = parsed({one, other}, {.rank = 1, .host = ""});
  const auto begins = of_phase(events, "b"), ends = of_phase(events, "e");
  ASSERT_EQ(begins.size(), 2u);
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(begins[0].at("args"), (nlohmann::json{{"bytes", 4}, {"peer", 2}}));
  EXPECT_NE(begins[0].at("id"), begins[1].at("id"));
  for (int i : {0, 1}) {
    EXPECT_EQ(begins[i].at("id"), ends[i].at("id"));
    EXPECT_DOUBLE_EQ(ends[i].at("ts").get<double>() - begins[i].at("ts").get<double>(), 2e6);
  }
}

TEST(ChromeTrace, AGradientIsAnInstant) {
  const auto events = of_phase(parsed({{.kind = EventKind::gradient,
                                        .name = "fc.weight",
                                        .begin = 1,
                                        .bytes = 40,
                                        .number = 7}},
                                      {}),
                               "i");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].at("name"), "fc.weight");
  EXPECT_EQ(events[0].at("args"), (nlohmann::json{{"bytes", 40}, {"parameter", 7}}));
}

TEST(ChromeTrace, AReadyBucketIsAnInstant) {
  const auto events = of_phase(
      parsed({{.kind = EventKind::bucket, .name = "bucket ready", .bytes = 40, .number = 2}}, {}),
      "i");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].at("cat"), "bucket");
  EXPECT_EQ(events[0].at("args"), (nlohmann::json{{"bytes", 40}, {"bucket", 2}}));
}

TEST(ChromeTrace, HasTheClockOffsetOfEveryRank) {
  const std::vector<ClockOffset> clocks{{}, {.seconds = -1.5, .uncertainty = 2e-6}};
  const auto stated = nlohmann::json::parse(chrome_trace({}, clocks)).at("otherData");
  EXPECT_EQ(stated.at("clock_offsets_us"),
            nlohmann::json::parse(R"([{"rank": 0, "offset": 0.0, "uncertainty": 0.0},
                                      {"rank": 1, "offset": -1.5e6, "uncertainty": 2.0}])"));
}

TEST(ChromeTrace, IsValidJsonWithAnyNames) {
  const auto events =
      of_phase(parsed({{.name = "a\"b\\c\n\x01\xff"}}, {.rank = 0, .host = "h\"\xfe"}), "X");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_TRUE(events[0].at("name").get<std::string>().starts_with("a\"b\\c\n\x01"));
}

TEST(ChromeTrace, SaysHowManyEventsWereLeftOut) {
  const auto rows = of_phase(parsed({}, {.rank = 1, .host = "", .left_out = 7}), "M");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[3].at("args").at("labels"), "7 later events left out");
}

TEST(ChromeTrace, JoinsTheEventsOfAllRanks) {
  const std::vector<std::string> texts{chrome_events({}, {.rank = 0, .host = "a"}), "",
                                       chrome_events({}, {.rank = 2, .host = "b"})};
  EXPECT_EQ(nlohmann::json::parse(chrome_trace(texts)).at("traceEvents").size(), 6u);
  EXPECT_TRUE(nlohmann::json::parse(chrome_trace({})).at("traceEvents").empty());
}

TEST(ClockOffset, IsZeroOnOneHost) {
  EXPECT_FALSE(clock_identity().empty());
  run_threads(3, [](Group group) {
    const ClockOffset offset = offset_to_rank_zero(group);
    EXPECT_EQ(offset.seconds, 0);
    EXPECT_EQ(offset.uncertainty, 0);
  });
}

TEST(ClockOffset, ToOtherHostsIsWithinItsUncertainty) {
  run_threads(4, [](Group group) {
    // Ranks 0 and 2 are of one host; the others' clocks are 100 s and 300 s ahead.
    const int host = group.rank() % 2 == 0 ? 0 : group.rank();
    const double ahead = 100.0 * host;
    const ClockOffset offset = offset_to_rank_zero(group, "host " + std::to_string(host),
                                                   [ahead] { return now_seconds() + ahead; });
    EXPECT_LE(std::abs(offset.seconds + ahead), offset.uncertainty + 1e-9);
    EXPECT_LT(offset.uncertainty, 50);
    EXPECT_EQ(offset.uncertainty == 0, host == 0);
  });
}

TEST(ClockOffset, IsMeasuredIfTheIdentityIsUnknown) {
  run_threads(2, [](Group group) {
    const ClockOffset offset = offset_to_rank_zero(group, "", now_seconds);
    EXPECT_EQ(offset.uncertainty > 0, group.rank() == 1);
    EXPECT_LE(std::abs(offset.seconds), offset.uncertainty);
  });
}

}  // namespace
}  // namespace lockstep::internal::observe
