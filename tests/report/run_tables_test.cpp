// The tables of a run's ranks, epochs and bytes, on the page.
#include "base/files.h"
#include "report/page.h"
#include "report/run_files.h"

#include <gtest/gtest.h>

namespace lockstep::internal::report {
namespace {

class RunTables : public ::testing::Test {
 protected:
  std::filesystem::path run(const std::string& name, const std::string& method = "ddp") {
    write_run(folder_.path() / name, method);
    return folder_.path() / name;
  }
  static nlohmann::json page_of(const std::vector<std::filesystem::path>& folders) {
    return page_json(read_source(folders));
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(RunTables, OfARunHasItsEpochs) {
  const nlohmann::json table = page_of({run("a")}).at("tables")[2];
  EXPECT_EQ(table.at("title"), "Epochs");
  // Two ranks with 8 images each, in 0.02 s.
  EXPECT_EQ(table.at("rows"), (nlohmann::json{{"1", "0", "1.0000", "50.00", "0.020", "400"},
                                              {"1", "1", "1.0000", "50.00", "0.020", "400"},
                                              {"1", "all", "1.0000", "50.00", "0.020", "800"},
                                              {"2", "0", "0.5000", "50.00", "0.020", "400"},
                                              {"2", "1", "0.5000", "50.00", "0.020", "400"},
                                              {"2", "all", "0.5000", "50.00", "0.020", "800"}}));
}

TEST_F(RunTables, LimitsTheTableOfEpochs) {
  const Source source = read_source({run("a")});
  const auto rows = [&](std::size_t most) {
    return page_json(source, {.epoch_rows = most}).at("tables")[2].at("rows").size();
  };
  EXPECT_EQ(rows(6), 6u);
  EXPECT_EQ(rows(5), 2u) << "only the rows for all ranks";
  EXPECT_EQ(rows(1), 1u) << "of the last epoch";
}

TEST_F(RunTables, OfARunHasTheBytesThatItsRanksExchanged) {
  const nlohmann::json table = page_of({run("a")}).at("tables")[3];
  EXPECT_EQ(table.at("title"), "Exchanged, in bytes");
  auto cells = cells_of(table);
  EXPECT_EQ(cells["0"]["gradients"], "1000");
  EXPECT_EQ(cells["1"]["votes"], "1");
  EXPECT_EQ(cells["1"]["all"], "1001");
  EXPECT_EQ(cells["all"]["gradients"], "2000");
  EXPECT_EQ(cells["all"]["checkpoints"], "0");
  EXPECT_EQ(cells["all"]["all"], "2001");
}

TEST_F(RunTables, OfARunOverMpiSaysWhichBytesAreNotCounted) {
  const auto folder = run("a");
  change(folder / "config.json", [](nlohmann::json& json) { json["transport"] = "mpi"; });
  EXPECT_EQ(page_of({folder}).at("tables")[3].at("title"),
            "Exchanged, in bytes, without MPI's own collectives");
}

TEST_F(RunTables, OfSeveralRunsHasTheRanksOfEach) {
  const nlohmann::json page = page_of({run("a"), run("b", "ring")});
  ASSERT_EQ(page.at("tables").size(), 3u);
  const nlohmann::json& ranks = page.at("tables")[1];
  EXPECT_EQ(ranks.at("columns")[0], "run");
  ASSERT_EQ(ranks.at("rows").size(), 4u);
  EXPECT_EQ(ranks.at("rows")[3][0], "b");
  EXPECT_EQ(ranks.at("rows")[3][1], "1");
  auto exchanged = cells_of(page.at("tables")[2]);
  EXPECT_EQ(exchanged["a"]["all"], "2001");
}

TEST_F(RunTables, ShowsTheTestOfEachRank) {
  const auto folder = run("a");
  nlohmann::json summary = summary_of("ddp");
  for (nlohmann::json& rank : summary["ranks"])
    rank.update({{"test_loss", 0.5},
                 {"test_accuracy", 0.105},
                 {"test_correct", 1050},
                 {"test_images", 10000}});
  write_file(folder / "summary.json", summary.dump());
  auto ranks = cells_of(page_of({folder}).at("tables")[0]);
  EXPECT_EQ(ranks["1"]["test"], "1050/10000 (10.5 %)");
  EXPECT_EQ(ranks["1"]["test loss"], "0.5000");
}

/// Curves have the epochs, thinned: a long run's page must not have all of them as well.
TEST_F(RunTables, LeavesTheEpochsOfTheSummaryOut) {
  const auto folder = run("a");
  nlohmann::json summary = summary_of("ddp");
  summary["epoch_results"] = summary["ranks"][0]["epoch_results"] = {1, 2, 3};
  summary["average_train_losses"] = {1, 2, 3};
  write_file(folder / "summary.json", summary.dump());
  const nlohmann::json shown = page_of({folder}).at("runs")[0].at("summary");
  EXPECT_FALSE(shown.contains("epoch_results"));
  EXPECT_FALSE(shown.contains("average_train_losses"));
  EXPECT_FALSE(shown.at("ranks")[0].contains("epoch_results"));
}

}  // namespace
}  // namespace lockstep::internal::report
