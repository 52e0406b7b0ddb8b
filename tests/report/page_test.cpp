// The data of a page, made from the files of run folders.
#include "report/page.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "report/report.h"
#include "report/run_files.h"
#include "support/errors.h"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <map>

namespace lockstep::internal::report {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class Page : public ::testing::Test {
 protected:
  std::filesystem::path run(const std::string& name, const std::string& method = "ddp") {
    write_run(folder_.path() / name, method);
    return folder_.path() / name;
  }
  /// A study of two runs, and its summary.
  std::filesystem::path study() {
    nlohmann::json summary{{"format", 1},
                           {"kind", "compare"},
                           {"command", "lockstep compare"},
                           {"verdict", "ring is faster."},
                           {"notes", {"All agree."}},
                           {"tables", nlohmann::json::array()},
                           {"runs", nlohmann::json::array()}};
    for (const char* method : {"ddp", "ring"}) {
      run(std::string("study/") + method, method);
      nlohmann::json one = summary_of(method);
      one["name"] = one["folder"] = method;
      summary["runs"].push_back(one);
    }
    write_file(folder_.path() / "study" / "summary.json", summary.dump());
    return folder_.path() / "study";
  }
  static nlohmann::json page_of(const std::vector<std::filesystem::path>& folders) {
    return page_json(read_source(folders));
  }
  const testing::TemporaryFolder folder_;
};

TEST_F(Page, OfARunHasItsJobAndItsResults) {
  const nlohmann::json page = page_of({run("a")});
  EXPECT_EQ(page.at("format"), 1);
  EXPECT_EQ(page.at("kind"), "train");
  EXPECT_EQ(page.at("title"), "LeNet-5 on MNIST, 2 workers: ddp");
  EXPECT_EQ(page.at("command"), "lockstep train --sync ddp");
  EXPECT_EQ(page.at("verdict"), "Compute-bound.");
  EXPECT_EQ(page.at("machine").at("cores"), 2);
  ASSERT_EQ(page.at("runs").size(), 1u);
  const nlohmann::json& run = page.at("runs")[0];
  EXPECT_EQ(run.at("name"), "ddp");
  EXPECT_TRUE(run.at("stopped").is_null());
  EXPECT_EQ(run.at("summary").at("weights_sha256"), "0123456789abcdef");
  EXPECT_EQ(run.at("iterations").size(), 2u);
  EXPECT_EQ(run.at("iterations")[1].at("loss")[0], 0.5);
  EXPECT_EQ(run.at("epochs")[0].at("loss"), nlohmann::json({1, 0.5}));
  EXPECT_EQ(run.at("test").at("loss"), 0.9);
  EXPECT_NEAR(run.at("parts").at("total"), 0.002, 1e-12);
  EXPECT_EQ(run.at("timeline").at("iteration"), 2);
  EXPECT_TRUE(page.at("ranking").is_null());
  EXPECT_EQ(page.at("notes"),
            nlohmann::json::array({"The mean time of an iteration differs from the median by more "
                                   "than 20 %: at least one in ten iterations is slow with ddp "
                                   "(mean 3.00 ms, median 2.00 ms). Images per second count every "
                                   "iteration."}));
}

TEST_F(Page, OfARunHasItsTables) {
  const nlohmann::json page = page_of({run("a")});
  ASSERT_EQ(page.at("tables").size(), 4u);
  auto figures = cells_of(page.at("tables")[1]);
  EXPECT_EQ(figures["ms/iteration, median"]["value"], "2.000");
  EXPECT_EQ(figures["test accuracy"]["value"], "1050/1500 (70 %)");
  auto ranks = cells_of(page.at("tables")[0]);
  EXPECT_EQ(ranks["1"]["mean ms"], "2.500");
  EXPECT_EQ(ranks["1"]["hidden %"], "12.5");
  EXPECT_EQ(ranks["0"]["MB/iteration"], "1.001");
  EXPECT_EQ(ranks["1"]["training s"], "0.04");
  EXPECT_FALSE(ranks["1"].contains("test"));
}

TEST_F(Page, HasPredictedAndMeasuredCostsOfTheMethod) {
  const nlohmann::json methods = page_of({run("a")}).at("methods");
  ASSERT_EQ(methods.size(), 1u);
  EXPECT_EQ(methods[0].at("name"), "ddp");
  EXPECT_THAT(methods[0].at("what").get<std::string>(), HasSubstr("bucket"));
  EXPECT_EQ(methods[0].at("predicted"), "1.00 MB from every rank (n = 1.00 MB, W = 2)");
  EXPECT_EQ(methods[0].at("measured"), "1.00 MB from every rank; 3.00 ms per iteration (mean)");
}

TEST_F(Page, OfAKilledRunSaysHowFarItCame) {
  const auto folder = run("a");
  std::filesystem::remove(folder / "summary.json");
  std::string metrics = read_file(folder / "metrics.jsonl");
  write_file(folder / "metrics.jsonl", metrics.substr(0, metrics.find("\"epoch\":2") + 3));
  const nlohmann::json page = page_of({folder});
  const nlohmann::json& stopped = page.at("runs")[0].at("stopped");
  EXPECT_EQ(stopped.at("iteration"), 10);
  EXPECT_EQ(stopped.at("of"), 20);
  EXPECT_THAT(
      page.at("verdict").get<std::string>(),
      ::testing::StartsWith(
          "The run was stopped or killed. It is recorded up to iteration 10 of 20. There is no "
          "checkpoint to resume from: --checkpoint-every N writes them."));
  EXPECT_TRUE(page.at("runs")[0].at("summary").is_null());
  ASSERT_EQ(page.at("tables").size(), 2u) << "ranks, and the first epoch";
  EXPECT_EQ(cells_of(page.at("tables")[0])["1"]["mean ms"], "2.000");
}

TEST_F(Page, OfARunWithoutMeasurementsIsPossible) {
  const auto folder = run("a");
  for (const char* file : {"summary.json", "metrics.jsonl", "trace.json"})
    std::filesystem::remove(folder / file);
  const nlohmann::json page = page_of({folder});
  EXPECT_EQ(page.at("runs")[0].at("stopped").at("iteration"), 0);
  EXPECT_TRUE(page.at("runs")[0].at("timeline").is_null());
}

TEST_F(Page, OfAStudyHasItsFindingsAndItsRuns) {
  const nlohmann::json page = page_of({study()});
  EXPECT_EQ(page.at("kind"), "compare");
  EXPECT_EQ(page.at("command"), "lockstep compare");
  EXPECT_EQ(page.at("verdict"), "ring is faster.");
  EXPECT_THAT(page.at("notes"), Contains("All agree."));
  ASSERT_EQ(page.at("runs").size(), 2u);
  EXPECT_EQ(page.at("runs")[1].at("name"), "ring");
  EXPECT_EQ(page.at("runs")[1].at("folder"), "ring");
  EXPECT_EQ(page.at("methods").size(), 2u);
  EXPECT_EQ(cells_of(page.at("tables")[0])["ring"]["median ms"], "2.000");
  EXPECT_EQ(cells_of(page.at("tables")[0])["ring"]["mean ms"], "3.000");
}

TEST_F(Page, OfAStudyRanksExactMethodsApartAndShowsTheirSpread) {
  const auto folder = study();
  change(folder / "summary.json", [](nlohmann::json& json) {
    json["runs"][0]["repetitions"] = R"([{"images_per_second": 90}, {"images_per_second": 100},
                                         {"images_per_second": 120}])"_json;
    json["runs"][1]["images_per_second"] = 200;
  });
  change(folder / "ring" / "config.json",
         [](nlohmann::json& json) { json["compress"] = "float16"; });
  const nlohmann::json ranking = page_of({folder}).at("ranking");
  EXPECT_TRUE(ranking.at("fastest").is_null()) << "a single method is not the fastest one";
  EXPECT_EQ(ranking.at("exact"), nlohmann::json::array({{{"name", "ddp"},
                                                         {"images_per_second", 100},
                                                         {"lowest", 90},
                                                         {"highest", 120},
                                                         {"repetitions", 3}}}));
  EXPECT_EQ(ranking.at("inexact")[0].at("name"), "ring");
}

TEST_F(Page, DoesNotRankRunsOfDifferentModels) {
  run("x", "ddp");
  run("y", "ring");
  change(folder_.path() / "y/config.json", [](nlohmann::json& json) { json["model"] = "vgg11"; });
  const nlohmann::json page = page_of({folder_.path() / "x", folder_.path() / "y"});
  EXPECT_TRUE(page.at("ranking").is_null());
  EXPECT_THAT(page.at("verdict").get<std::string>(), HasSubstr("their speeds are not compared"));
}

TEST_F(Page, ShowsTheTablesOfAStudy) {
  const auto folder = study();
  const nlohmann::json table{
      {"title", "Methods"}, {"columns", {"a", "b"}}, {"rows", R"([["1", "2"], ["3", "4"]])"_json}};
  change(folder / "summary.json", [&](nlohmann::json& json) { json["tables"] = {table}; });
  const nlohmann::json tables = page_of({folder}).at("tables");
  ASSERT_EQ(tables.size(), 3u);
  EXPECT_EQ(tables[0], (nlohmann::json{{"title", "Methods"},
                                       {"columns", {"a", "b"}},
                                       {"rows", R"([["1", "2"], ["3", "4"]])"_json},
                                       {"explain", nlohmann::json::object()}}));
  EXPECT_EQ(tables[1].at("title"), "Ranks by method");
  change(folder / "summary.json",
         [&](nlohmann::json& json) { json["tables"][0]["rows"][1].erase(1); });
  testing::expect_error<FileError>([&] { page_of({folder}); },
                                   {"summary.json: tables[0]: 'rows' is not a list of rows with"});
}

TEST_F(Page, OfAStudyNamesARunWithoutFolder) {
  const auto folder = study();
  std::filesystem::remove_all(folder / "ring");
  const nlohmann::json page = page_of({folder});
  EXPECT_EQ(page.at("runs").size(), 2u);
  EXPECT_THAT(page.at("notes"), Contains("ring: its folder ring is missing, so it has no curves."));
}

TEST_F(Page, ReadsNothingOutsideTheFolderOfAStudy) {
  run("secret");
  const auto folder = study();
  for (const char* path : {"../secret", "/etc", "ring/../../secret"}) {
    change(folder / "summary.json",
           [&](nlohmann::json& json) { json["runs"][0]["folder"] = path; });
    testing::expect_error<FileError>(
        [&] { page_of({folder}); },
        {"'folder' is not the path of a folder below the study's folder"});
  }
}

TEST_F(Page, OfAKilledStudyShowsItsRunsSideBySide) {
  const auto folder = study();
  std::filesystem::remove(folder / "summary.json");
  std::filesystem::remove(folder / "ring" / "summary.json");
  const nlohmann::json page = page_of({folder});
  EXPECT_EQ(page.at("kind"), "side-by-side");
  EXPECT_EQ(page.at("runs").size(), 2u);
  EXPECT_THAT(page.at("notes").dump(),
              HasSubstr("ring is incomplete: The run was stopped or killed. It is recorded up to "
                        "iteration 20 of 20.\""));
}

TEST_F(Page, OfSeveralRunsShowsThemSideBySide) {
  run("x/a", "ddp");
  run("y/a", "ring");
  // A larger batch: its iterations take longer, but it trains more images per second.
  change(folder_.path() / "y/a/summary.json", [](nlohmann::json& json) {
    json["seconds_per_iteration"]["mean"] = 0.01;
    json["images_per_second"] = 12800;
  });
  change(folder_.path() / "y/a/config.json", [](nlohmann::json& json) { json["batch"] = 128; });
  const nlohmann::json page =
      page_of({folder_.path() / "x" / "a", folder_.path() / "y" / "a" / "", study()});
  EXPECT_EQ(page.at("kind"), "side-by-side");
  std::vector<std::string> names;
  for (const auto& run : page.at("runs")) names.push_back(run.at("name"));
  EXPECT_EQ(names, (std::vector<std::string>{"a", "a (2)", "study/ddp", "study/ring"}));
  EXPECT_EQ(page.at("verdict"),
            "a (2) is the fastest run with 12800 images/s: 2.40 times as fast as study/ring, the "
            "slowest, with 5333 images/s.");
  EXPECT_EQ(page.at("ranking").at("fastest"), "a (2)");
  EXPECT_EQ(page.at("ranking").at("exact")[0].at("images_per_second"), 12800);
  EXPECT_THAT(page.at("notes"), Contains("The runs differ in sync (ddp and all-reduce), algorithm "
                                         "(auto and ring) and batch (16 and 128)."));
  EXPECT_THAT(page.at("notes"), Contains(HasSubstr("compare images per second and not the time")));
  EXPECT_EQ(cells_of(page.at("tables")[0]).size(), 4u);
}

TEST_F(Page, HasItsTablesAsFiles) {
  const auto folder = study();
  nlohmann::json table{{"title", "Speed-up: ddp / ring"},
                       {"columns", {"workers", "time"}},
                       {"rows", R"([["1", "2.5 s"], ["2*", "–"]])"_json}};
  change(folder / "summary.json", [&](nlohmann::json& json) {
    json["tables"] = {table, table, table};
    json["tables"][2]["title"] = "../…";
  });
  write_file(
      folder / "ring" / "postmortem.json",
      R"({"format": 1, "verdict": [], "ranks": [{"rank": 3, "ending": "exited", "step": 2}]})");
  const auto to = folder_.path() / "made" / "csv";
  EXPECT_EQ(
      write_csv({folder}, to),
      (std::vector{to / "speed-up-ddp-ring.csv", to / "speed-up-ddp-ring-2.csv", to / "table.csv",
                   to / "ranks-by-method.csv", to / "exchanged-in-bytes.csv",
                   to / "ranks-at-the-end-of-the-run-ring.csv"}));
  EXPECT_EQ(read_file(to / "speed-up-ddp-ring.csv"),
            "workers,workers mark,time s\r\n1,,2.5\r\n2,*,\r\n");
  EXPECT_EQ(read_file(to / "ranks-at-the-end-of-the-run-ring.csv"),
            "rank,exit,step,operation,waited for rank,waited ms\r\n3,exited,2,,,\r\n");
  write_markdown({folder}, folder_.path() / "tables.md");
  EXPECT_THAT(read_file(folder_.path() / "tables.md"),
              AllOf(::testing::StartsWith("# LeNet-5 on MNIST, 2 workers: sync methods compared\n\n"
                                          "## Speed-up: ddp / ring\n\n| workers | workers mark |"),
                    HasSubstr("| 2 | \\* | |\n\n## Speed-up: ddp / ring\n"),
                    HasSubstr("## Ranks at the end of the run: ring\n")));
}

TEST_F(Page, HasTheOtherTablesAsFilesIfThePostMortemIsMalformed) {
  const auto folder = run("a");
  write_file(folder / "postmortem.json", "[]");
  write_csv({folder}, folder_.path() / "csv");
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "csv" / "ranks.csv"));
  EXPECT_THAT(read_file(folder_.path() / "csv" / "post-mortem.csv"), HasSubstr("postmortem.json"));
}

TEST_F(Page, HasNoTablesAsFilesIfAFileIsMalformed) {
  const auto folder = run("a");
  write_file(folder / "config.json", "[]");
  testing::expect_error<FileError>([&] { write_csv({folder}, folder_.path() / "csv"); },
                                   {"config.json"});
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "csv"));
}

TEST_F(Page, OfAFolderWithoutRunsIsRefused) {
  std::filesystem::create_directories(folder_.path() / "empty");
  testing::expect_error<FileError>(
      [&] { page_of({folder_.path() / "empty"}); },
      {"empty: not a run folder", "config.json", "Give a folder that"});
  testing::expect_error<FileError>([&] { page_of({folder_.path() / "none"}); },
                                   {"none: there is no such folder"});
  testing::expect_error<FileError>([&] { page_of({folder_.write("file", "")}); },
                                   {"file: there is no such folder"});
}

TEST_F(Page, OfANewerFormatIsRefused) {
  const auto folder = run("a");
  change(folder / "config.json", [](nlohmann::json& json) { json["format"] = 2; });
  testing::expect_error<FileError>([&] { page_of({folder}); },
                                   {"config.json: written by a newer version of Lockstep (format "
                                    "2, this version reads up to 1): update"});
  const auto whole = study();
  change(whole / "summary.json", [](nlohmann::json& json) { json["format"] = 7; });
  testing::expect_error<FileError>([&] { page_of({whole}); }, {"format 7", "update"});
}

TEST_F(Page, OfMalformedFilesIsRefused) {
  const auto folder = run("a");
  const std::string good = read_file(folder / "summary.json");
  const auto expect_refused = [&](const char* file, const std::string& content,
                                  const std::string& part) {
    write_file(folder / file, content);
    testing::expect_error<FileError>([&] { page_of({folder}); }, {file, part});
  };
  expect_refused("summary.json", "", "not valid JSON");
  expect_refused("summary.json", "[]", "not a JSON object");
  expect_refused("summary.json", R"({"ranks": {}})", "'ranks' is not a list");
  expect_refused("summary.json", R"({"ranks": [3]})", "ranks[0]: not a JSON object");
  expect_refused("summary.json", R"({"verdict": 3})", "'verdict' is not a string");
  expect_refused("summary.json", R"({"seconds_total": "long"})", "'seconds_total' is not a number");
  expect_refused("summary.json", R"({"iterations": -1})", "'iterations' is not a whole number");
  expect_refused("summary.json", "{\"a\": " + std::string(100, '[') + std::string(100, ']') + "}",
                 "nested too deeply");
  write_file(folder / "summary.json", good);
  expect_refused("config.json", R"({"workers": "two"})", "'workers' is not a number");
  expect_refused("config.json", R"({"machine": {"cores": "two"}})", "'cores' is not a number");
}

TEST_F(Page, OfARunWithAMalformedTraceLacksOnlyTheTimeline) {
  const auto folder = run("a");
  write_file(folder / "trace.json", "{\"cat\":\"iteration\", nonsense\n");
  const nlohmann::json page = page_of({folder});
  EXPECT_TRUE(page.at("runs")[0].at("timeline").is_null());
  EXPECT_THAT(page.at("notes").dump(), HasSubstr("There is no timeline: "));
}

TEST_F(Page, StaysSmallAndSaysWhatWasReduced) {
  const auto folder = run("a");
  std::string metrics;
  for (int rank = 0; rank < 8; ++rank)
    for (int i = 1; i <= 2000; ++i)
      metrics += metrics_line("iteration", rank, i, i, 1.0 / i, 0.0012345678) +
                 metrics_line("epoch", rank, i, i, 1.0 / i, 0.0012345678);
  write_file(folder / "metrics.jsonl", metrics);
  const nlohmann::json page = page_of({folder});
  for (const auto& curve : page.at("runs")[0].at("iterations"))
    EXPECT_EQ(curve.at("loss").size(), 500u);
  EXPECT_THAT(page.at("notes").dump(), HasSubstr("a point is the mean of up to 4 neighbours"));
  const nlohmann::json less = page_json(read_source({folder}), {.points = 900});
  for (const auto& curve : less.at("runs")[0].at("epochs"))
    EXPECT_LE(curve.at("loss").size(), 100u);
}

TEST_F(Page, AsHtmlIsOneFileWithEscapedData) {
  const auto folder = run("a");
  change(folder / "config.json", [](nlohmann::json& json) {
    json["command"] = "lockstep train --run-dir '</script><!--PAGE_DATA /*SCRIPTS*/'";
    json["model"] = "<b>";
  });
  EXPECT_EQ(write_report(folder), folder / "report.html");
  const std::string html = read_file(folder / "report.html");
  const std::size_t begin = html.find("id=\"page-data\">") + 15;
  const std::string data = html.substr(begin, html.find("</script>", begin) - begin);
  EXPECT_EQ(nlohmann::json::parse(data), [&] {
    nlohmann::json page = page_of({folder});
    page["made"] = nlohmann::json::parse(data).at("made");
    return page;
  }());
  EXPECT_THAT(html, HasSubstr("<title>&lt;b&gt; on MNIST"));
  EXPECT_THAT(html, HasSubstr("Chart.js v"));
  for (const char* outside : {"src=\"http", "href=\"http", "@import", "url(http"})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  EXPECT_EQ(html.find("/*STYLE*/"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::internal::report
