// Tables as CSV and Markdown, with one number per cell.
#include "base/table/export.h"

#include <gtest/gtest.h>

namespace lockstep::internal {
namespace {

using Cells = std::vector<std::string>;

/// The names of the columns, and the rows.
std::vector<Cells> cleaned(std::vector<TableColumn> columns, std::vector<Cells> rows) {
  const TextTable clean =
      one_number_per_cell({.columns = std::move(columns), .rows = std::move(rows)});
  std::vector<Cells> all{clean.column_names()};
  all.insert(all.end(), clean.rows.begin(), clean.rows.end());
  return all;
}

TEST(TableExport, LeavesMissingValuesEmpty) {
  EXPECT_EQ(
      cleaned({"rank", "ms", "MB", "B"}, {{"0", "–", "-", "n/a"}, {"1", "2.5", "", "-3"}}),
      (std::vector<Cells>{{"rank", "ms", "MB", "B"}, {"0", "", "", ""}, {"1", "2.5", "", "-3"}}));
}

TEST(TableExport, MovesUnitsIntoTheHeader) {
  EXPECT_EQ(
      cleaned({"class", "share", "speed"}, {{"0", "10.0 %", "2×"}, {"1", "–", "3.5×"}}),
      (std::vector<Cells>{{"class", "share %", "speed ×"}, {"0", "10.0", "2"}, {"1", "", "3.5"}}));
  EXPECT_EQ(cleaned({"n", "time"}, {{"0", "1 s"}, {"1", "3 ms"}}),
            (std::vector<Cells>{{"n", "time"}, {"0", "1 s"}, {"1", "3 ms"}}))
      << "the units differ";
}

TEST(TableExport, GivesEachNumberItsOwnColumn) {
  EXPECT_EQ(cleaned({"workers", "16 per worker", "comm s (16 / 32)"},
                    {{"1", "0.250 s, 4.00×", "–"}, {"2", "–", "0.1 / –"}}),
            (std::vector<Cells>{
                {"workers", "16 per worker s", "16 per worker ×", "comm s (16)", "comm s (32)"},
                {"1", "0.250", "4.00", "", ""},
                {"2", "", "", "0.1", ""}}));
}

TEST(TableExport, GivesMarksTheirOwnColumn) {
  EXPECT_EQ(
      cleaned({{"workers", "a star marks overhead"}, "s"}, {{"4", "1"}, {"8*", "2"}}),
      (std::vector<Cells>{{"workers", "workers mark", "s"}, {"4", "", "1"}, {"8", "*", "2"}}));
}

TEST(TableExport, TakesUnitsOffNumbersAmongWords) {
  EXPECT_EQ(cleaned({"method", "weights"}, {{"alone", "equal"}, {"ring", "4e-07 off"}}),
            (std::vector<Cells>{{"method", "weights"}, {"alone", "equal"}, {"ring", "4e-07"}}));
}

TEST(TableExport, KeepsOtherTextAsItIs) {
  const std::vector<Cells> rows{
      {"2 hosts", "0123456789abcdef", "0, 2", "13×5", "a batch 2 times as large"},
      {"4 hosts", "8e4d", "1", "7×2", "exited with code 1, 2 times"},
      {"8 hosts", "1 e5", "3", "1×1", "none, 1 s"}};
  std::vector<Cells> expected{{"run", "weights", "ranks", "array", "what"}};
  expected.insert(expected.end(), rows.begin(), rows.end());
  EXPECT_EQ(cleaned({"run", "weights", "ranks", "array", "what"}, rows), expected);
}

TEST(TableExport, AsCsvQuotesSpecialCharacters) {
  EXPECT_EQ(to_csv({.title = "Runs",
                    .columns = {"run", "a \"b\""},
                    .rows = {{"one, two", "–"}, {"größer", "line\nbreak"}}}),
            "run,\"a \"\"b\"\"\"\r\n\"one, two\",\r\ngrößer,\"line\nbreak\"\r\n");
  EXPECT_EQ(to_csv({.columns = {"a", "b"}}), "a,b\r\n");
}

TEST(TableExport, AsMarkdownIsATableWithExplanations) {
  EXPECT_EQ(to_markdown({.title = "Sync methods",
                         .columns = {"method", {"time", "median | of all"}, "exit"},
                         .rows = {{"a*b|c<d>", "1.5 s", "died\nearly"}, {"_ring_", "–", "–"}}}),
            "## Sync methods\n"
            "\n"
            "| method | time s | exit |\n"
            "| --- | ---: | --- |\n"
            "| a\\*b\\|c\\<d> | 1.5 | died early |\n"
            "| \\_ring\\_ | | |\n"
            "\n"
            "- time s: median \\| of all\n");
}

}  // namespace
}  // namespace lockstep::internal
