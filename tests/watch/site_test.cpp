// What `lockstep watch` answers about run folders that were written by hand.
#include "watch/site.h"

#include "base/folder_lock.h"
#include "report/run_files.h"

#include <gtest/gtest.h>

#include <fstream>
#include <gmock/gmock.h>

namespace lockstep::internal::watch {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using report::config_of;
using report::metrics_line;
using report::write_run;

class WatchedRun : public ::testing::Test {
 protected:
  WatchedRun() {
    fs::create_directories(path_);
    write_file(path_ / "config.json", config_of("ddp").dump());
  }

  void append(const std::string& text) {
    std::ofstream(path_ / "metrics.jsonl", std::ios::app | std::ios::binary) << text;
  }
  json state() {
    run_.refresh();
    json state = run_.to_json();
    state["ranks"] = run_.ranks_json();
    return state;
  }

  const testing::TemporaryFolder folder_;
  const fs::path path_ = folder_.path() / "run";
  FollowedRun run_{path_};
};

TEST_F(WatchedRun, HasAStateWithoutAnyRecord) {
  const json found = state();
  EXPECT_EQ(found["state"], "stopped");
  EXPECT_EQ(found["iteration"], 0);
  EXPECT_EQ(found["iterations"], 20);
  EXPECT_TRUE(found["loss"].is_null());
  EXPECT_EQ(found["ranks"], json::parse(R"([{"rank":0},{"rank":1}])"));
}

TEST_F(WatchedRun, HasTheProgressOfItsRanks) {
  const FolderLock running(path_, "");
  append(metrics_line("iteration", 0, 1, 1, 3.0, 5) + metrics_line("iteration", 1, 1, 1, 3.0, 5));
  for (int i = 2; i <= 5; ++i)
    append(metrics_line("iteration", 0, 1, i, 2.0, 0.25) +
           metrics_line("iteration", 1, 1, i, 1.0, 0.5) + metrics_line("epoch", 0, 1, i, 2.0, 1));
  append("{\"kind\":\"iter");  // a line that is being written
  const json found = state();
  EXPECT_EQ(found["state"], "running");
  EXPECT_EQ(found["iteration"], 5);
  EXPECT_EQ(found["epoch"], 1);
  EXPECT_EQ(found["loss"], 1.5);
  EXPECT_DOUBLE_EQ(found["images_per_second"], 8 / 0.25 + 8 / 0.5) << "without the first iteration";
  EXPECT_DOUBLE_EQ(found["seconds_left"], 15 * 0.5) << "the slowest rank counts";
  const json& rank = found["ranks"][1];
  EXPECT_EQ(rank["iteration"], 5);
  EXPECT_DOUBLE_EQ(rank["seconds_per_iteration"], 0.5);
  EXPECT_DOUBLE_EQ(rank["waiting"], 0.1);
  EXPECT_LT(rank["age"], 3600);
}

TEST_F(WatchedRun, OnlyRecentIterationsCount) {
  for (int i = 1; i <= 100; ++i) append(metrics_line("iteration", 0, 1, i, 2, i <= 80 ? 1 : 0.5));
  EXPECT_DOUBLE_EQ(state()["images_per_second"], 16);
}

TEST_F(WatchedRun, ItsVersionGrowsWithEveryChangeOnly) {
  state();
  auto version = run_.version();
  const auto changes = [&] {
    state();
    return std::exchange(version, run_.version()) != run_.version();
  };
  EXPECT_FALSE(changes());
  append(metrics_line("iteration", 0, 1, 1, 2.0, 0.25));
  EXPECT_TRUE(changes());
  EXPECT_FALSE(changes());
  {
    const FolderLock running(path_, "");
    EXPECT_TRUE(changes());
  }
  EXPECT_TRUE(changes());
  write_file(path_ / "summary.json", report::summary_of("ddp").dump());
  EXPECT_TRUE(changes());
}

TEST_F(WatchedRun, EndsWithTheFiguresOfItsSummary) {
  write_run(path_, "ddp");
  const json found = state();
  EXPECT_EQ(found["state"], "ended");
  EXPECT_EQ(found["loss"], 1.25);
  EXPECT_EQ(found["test_accuracy"], 0.7);
  EXPECT_DOUBLE_EQ(found["images_per_second"], 16 / 0.003);
}

TEST_F(WatchedRun, AFailureNamesTheRanks) {
  write_file(path_ / "postmortem.json",
             R"({"format": 1, "verdict": ["rank 1 was ended by signal 9"],
      "ranks": [{"rank": 0, "ending": "exited with code 1"}, {"rank": 1, "ending": "was killed"}]})");
  const json found = state();
  EXPECT_EQ(found["state"], "failed");
  EXPECT_EQ(found["why"], "rank 1 was ended by signal 9");
  EXPECT_EQ(found["ranks"][1]["ending"], "was killed");
}

TEST_F(WatchedRun, AResumedRunStartsOver) {
  for (int i = 1; i <= 9; ++i) append(metrics_line("iteration", 0, 1, i, 2.0, 0.25));
  EXPECT_EQ(state()["iteration"], 9);
  write_file(path_ / "metrics.jsonl", metrics_line("iteration", 0, 1, 1, 2.0, 0.25));
  EXPECT_EQ(state()["iteration"], 1);
}

TEST_F(WatchedRun, DamagedFilesAreNoError) {
  for (const char* file : {"config.json", "summary.json", "postmortem.json", "metrics.jsonl"})
    for (const char* content :
         {"", "{", "[]", R"({"planned_iterations":"x","workers":-1e300,"ranks":3})"}) {
      write_file(path_ / file, content);
      EXPECT_NO_THROW(state()) << file << content;
    }
}

class WatchSite : public ::testing::Test {
 protected:
  HttpResponse get(const std::string& path) {
    Site site({folder_.path() / "runs"});  // a new one refreshes at once
    return site.answer({.head = false, .path = path});
  }
  json get_json(const std::string& path) { return json::parse(get(path).body); }
  std::vector<std::string> names() {
    std::vector<std::string> names;
    const json list = get_json("/runs.json");
    for (const json& run : list["runs"]) names.push_back(run["name"]);
    return names;
  }
  std::string id_of(const std::string& name) {
    const json list = get_json("/runs.json");
    for (const json& run : list["runs"])
      if (run["name"] == name) return run["id"];
    return "";
  }
  void write(const std::string& name, const std::string& command) {
    const fs::path run = folder_.path() / "runs" / name;
    write_run(run, "ddp");
    json config = config_of("ddp");
    config["command"] = command;
    write_file(run / "config.json", config.dump());
    fs::last_write_time(
        run / "config.json",
        fs::file_time_type::clock::now() - std::chrono::hours(100) + std::chrono::hours(++runs_));
  }

  const testing::TemporaryFolder folder_;
  int runs_ = 0;
};

TEST_F(WatchSite, AMissingFolderHasNoRuns) {
  EXPECT_EQ(names(), std::vector<std::string>{});
  EXPECT_EQ(get_json("/runs.json")["folders"][0], (folder_.path() / "runs").string());
  EXPECT_EQ(get("/").status, 200);
}

TEST_F(WatchSite, ListsTheNewestFirstAndStudiesWithTheirRuns) {
  write("one", "lockstep train");
  write("study/alone", "lockstep compare");
  write("study/ddp", "lockstep compare");
  write("two", "lockstep train");
  EXPECT_EQ(names(), (std::vector<std::string>{"two", "study", "alone", "ddp", "one"}));
  const json study = get_json("/run/" + id_of("study") + "/state.json");
  EXPECT_EQ(study["runs"].size(), 2u);
  EXPECT_EQ(study["state"], "stopped") << "it has no summary";
  EXPECT_EQ(get_json("/run/" + id_of("study") + "/page.json")["kind"], "side-by-side");
}

TEST_F(WatchSite, RepetitionsBelongToTheirStudy) {
  write("one", "lockstep train");
  write("study/ddp", "lockstep compare --repeat 2");
  write("study/repeat-2/ddp", "lockstep compare --repeat 2");
  EXPECT_EQ(names(), (std::vector<std::string>{"study", "ddp", "repeat-2/ddp", "one"}));
}

TEST_F(WatchSite, TheWatchedFolderMayBeAStudyOrARun) {
  write("alone", "lockstep compare --epochs 1");
  write("ddp", "lockstep compare --epochs 1");
  EXPECT_EQ(names(), (std::vector<std::string>{"runs", "alone", "ddp"}));
  Site run({folder_.path() / "runs" / "ddp" / ""});
  EXPECT_EQ(json::parse(run.answer({.path = "/runs.json"}).body)["runs"][0]["name"], "ddp");
}

TEST_F(WatchSite, ShowsTheReportOfARun) {
  write("one", "lockstep train </script>");
  const std::string page = "/run/" + id_of("one") + "/";
  EXPECT_EQ(get_json(page + "page.json")["runs"][0]["iterations"].size(), 2u);
  const HttpResponse html = get(page);
  EXPECT_EQ(html.type, "text/html; charset=utf-8");
  EXPECT_EQ(html.body.find("train </script>"), std::string::npos);
  EXPECT_THAT(html.body, ::testing::HasSubstr("lockstep train \\u003c/script>"));
  for (const char* file : {"/chart.js", "/run.js", "/runs.js", "/page.css"})
    EXPECT_EQ(get(file).status, 200);
}

TEST_F(WatchSite, ADamagedRunStillHasAPage) {
  write("one", "lockstep train");
  const std::string page = "/run/" + id_of("one") + "/";
  write_file(folder_.path() / "runs" / "one" / "summary.json", "{");
  EXPECT_THAT(get(page).body, ::testing::HasSubstr("summary.json: not valid JSON"));
  EXPECT_THROW(get(page + "page.json"), std::exception);
}

TEST_F(WatchSite, PagesFollowTheMetrics) {
  write("one", "lockstep train");
  const std::string path = "/run/" + id_of("one") + "/page.json";
  const auto last = [](const json& page) {
    return page["runs"][0]["iterations"][0]["iteration"].back();
  };
  Site site({folder_.path() / "runs"});
  EXPECT_EQ(last(json::parse(site.answer({.path = path}).body)), 20);
  std::ofstream(folder_.path() / "runs" / "one" / "metrics.jsonl", std::ios::app)
      << metrics_line("iteration", 0, 3, 21, 0.5, 0.002);
  json page;
  do page = json::parse(site.answer({.path = path}).body);  // it looks twice a second
  while (last(page) == 20);
  EXPECT_EQ(last(page), 21);
}

TEST_F(WatchSite, OtherPathsAreNotFound) {
  write("one", "lockstep train");
  const std::string run = "/run/" + id_of("one");
  for (const std::string& path :
       {std::string("/run/"), std::string("/run/../../etc/passwd"), std::string("/../etc/passwd"),
        std::string("/run/0123456789abcdef/"), run, run + "/config.json",
        run + "/../one/config.json", run + "/page.json?x", std::string("/runs/one/config.json"),
        std::string("//")})
    EXPECT_EQ(get(path).status, 404) << path;
}

}  // namespace
}  // namespace lockstep::internal::watch
