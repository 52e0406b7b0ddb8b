// Reading postmortem.json for the report, including malformed files.
#include "report/post_mortem.h"

#include <lockstep/error.h>

#include "report/run_files.h"
#include "support/errors.h"

#include <gtest/gtest.h>

namespace lockstep::internal::report {
namespace {

class PostMortemFile : public ::testing::Test {
 protected:
  Timeline read(const nlohmann::json& content, const TimelineLimits& limits = {}) {
    return read_post_mortem(put(folder_.path() / "postmortem.json", content.dump()), limits);
  }

  const testing::TemporaryFolder folder_;
};

nlohmann::json whole() {
  return R"json({"format": 1, "cause": "died", "culprits": [1], "verdict": ["rank 1 died", "rank 0 waited"],
    "elsewhere": [], "ranks": [
      {"rank": 0, "pid": 7, "host": "", "ending": "exited with code 1", "end": 0.2, "step": 17, "damaged": 0,
       "told_to_end": false, "waited_for": [1], "waited_seconds": 0.12, "within": "all_reduce #34",
       "operations": [
         {"operation": "barrier", "group": "world", "sequence": 1, "bytes": 0, "begin": -30, "end": -20,
          "outcome": "ended"},
         {"operation": "all_reduce", "group": "world", "sequence": 33, "bytes": 400, "begin": -1.5, "end": -0.5,
          "wait": 0.1, "outcome": "ended", "algorithm": "ring", "bucket": 0, "step": 17},
         {"operation": "all_reduce", "group": "world", "sequence": 34, "bytes": 400, "begin": -0.02, "end": 0.1,
          "outcome": "failed"}]},
      {"rank": 1, "ending": "was ended by signal 9 (Killed)", "end": 0, "step": 17, "damaged": 1, "waited_for": [],
       "waited_seconds": 0, "operations": [
         {"operation": "recv", "group": "world", "peer": 0, "bytes": 12, "begin": -0.25, "outcome": "unfinished"}]}]})json"_json;
}

TEST_F(PostMortemFile, ShowsTheLastSecondOfEveryRank) {
  const Timeline post_mortem = read(whole());
  const nlohmann::json& lanes = post_mortem.json.at("timeline").at("lanes");
  ASSERT_EQ(lanes.size(), 2u);
  EXPECT_EQ(lanes[0].at("spans"), R"([
    {"name": "all_reduce #33", "kind": "collective", "start": -1000000.0, "length": 500000.0, "depth": 0,
     "bytes": 400, "wait": 100000.0, "detail": "ring, bucket 0, step 17"},
    {"name": "all_reduce #34", "kind": "collective", "start": -20000.0, "length": 120000.0, "depth": 0,
     "bytes": 400, "wait": 120000.0, "detail": "failed"}])"_json);
  EXPECT_EQ(lanes[1].at("spans"), R"([{"name": "recv", "kind": "message", "start": -250000.0,
    "length": 250000.0, "depth": 0, "bytes": 12, "wait": 250000.0, "detail": "rank 0, unfinished"}])"_json);
  EXPECT_EQ(lanes[1].at("end"), 0);
}

TEST_F(PostMortemFile, HasARowForEveryRank) {
  const nlohmann::json rows = read(whole()).json.at("table").at("rows");
  EXPECT_EQ(rows, R"json([["0", "exited with code 1", "17", "all_reduce #34", "1", "120.000"],
    ["1", "was ended by signal 9 (Killed)", "17", "–", "–", "–"]])json"_json);
}

TEST_F(PostMortemFile, KeepsToTheLimits) {
  const Timeline post_mortem = read(whole(), {.ranks = 1, .spans = 1});
  EXPECT_EQ(post_mortem.ranks_left_out, 1u);
  EXPECT_EQ(post_mortem.spans_left_out, 1u);
  EXPECT_EQ(post_mortem.json.at("table").at("rows").size(), 2u);
}

TEST_F(PostMortemFile, RefusesMalformedFiles) {
  const auto refuses = [&](const char* pointer, const nlohmann::json& value, const char* part) {
    nlohmann::json content = whole();
    content[nlohmann::json::json_pointer(pointer)] = value;
    testing::expect_error<FileError>([&] { read(content); }, {"postmortem.json", part});
  };
  refuses("/format", 2, "newer");
  refuses("/verdict", "text", "verdict");
  refuses("/verdict/0", 3, "verdict");
  refuses("/ranks", 3, "ranks");
  refuses("/ranks/0", "x", "ranks");
  refuses("/ranks/0/rank", -1, "rank");
  refuses("/ranks/0/rank", 1e9, "rank");
  refuses("/ranks/0/waited_for/0", "x", "waited_for");
  refuses("/ranks/0/waited_for", "x", "waited_for");
  refuses("/ranks/0/waited_for", 5, "waited_for");
  refuses("/ranks/0/waited_for", nlohmann::json({{"a", 7}}), "waited_for");
  refuses("/ranks/0/operations/1/begin", "x", "begin");
  refuses("/ranks/0/operations/1/sequence", 0.5, "sequence");
  testing::expect_error<FileError>([&] { read("a text"); }, {"postmortem.json"});
}

}  // namespace
}  // namespace lockstep::internal::report
