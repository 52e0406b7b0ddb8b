// The tables of a page.
#include "report/tables.h"

#include "report/run_files.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

namespace lockstep::internal::report {
namespace {

TEST(Tables, HaveTheRanksOfEveryRun) {
  const testing::TemporaryFolder folder;
  for (const char* method : {"ddp", "ring"}) write_run(folder.path() / method, method);
  const TextTable ranks =
      tables_of(read_source({folder.path() / "ddp", folder.path() / "ring"}), 100).at(1);
  EXPECT_EQ(ranks.title, "Ranks by run");
  EXPECT_EQ(ranks.columns[0].name, "run");
  EXPECT_EQ(ranks.columns[1].name, "rank");
  std::vector<std::string> rows;
  for (const auto& row : ranks.rows) rows.push_back(row[0] + row[1]);
  EXPECT_EQ(rows, (std::vector<std::string>{"ddp0", "ddp1", "ring0", "ring1"}));
}

TEST(Tables, OfAPageHaveOneNumberPerCellWhereThatDiffers) {
  const TextTable table{.title = "T", .columns = {"workers", "time"}, .rows = {{"1", "2.5 s"}}};
  const TextTable clean{.title = "T", .columns = {"a"}, .rows = {{"1"}}};
  const nlohmann::json tables = page_tables({table, clean});
  EXPECT_EQ(tables[0].at("clean"),
            nlohmann::json::parse(R"({"columns": ["workers", "time s"], "rows": [["1", "2.5"]]})"));
  EXPECT_FALSE(tables[1].contains("clean"));
}

}  // namespace
}  // namespace lockstep::internal::report
