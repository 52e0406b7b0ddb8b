// Tables as terminal text and as JSON.
#include "base/table/text_table.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lockstep::internal {
namespace {

TextTable methods() {
  return {.title = "Methods",
          .columns = {"method", {"ms", "median"}, "weights"},
          .rows = {{"ring", "9.25", "equal"}, {"größer", "–", "differ"}}};
}

TEST(TextTables, AlignWordsToTheLeftAndNumbersToTheRight) {
  EXPECT_EQ(to_text(methods()),
            "method    ms  weights\n"
            "ring    9.25  equal\n"
            "größer     –  differ\n");
  EXPECT_EQ(to_text({.columns = {"method", "ms"}}), "method  ms\n");
}

TEST(TextTables, InColourHaveABoldHeaderAndAGreenRow) {
  EXPECT_EQ(to_text(methods(), true, 1),
            "\033[1mmethod    ms  weights\033[0m\n"
            "ring    9.25  equal\n"
            "\033[32mgrößer     –  differ\033[0m\n");
  EXPECT_EQ(to_text(methods(), false, 1), to_text(methods()));
}

TEST(TextTables, AsJsonHaveTheFieldsOfReports) {
  EXPECT_EQ(nlohmann::json(methods()).dump(),
            R"({"columns":["method","ms","weights"],"explain":{"ms":"median"},)"
            R"("rows":[["ring","9.25","equal"],["größer","–","differ"]],"title":"Methods"})");
  EXPECT_EQ(nlohmann::json(TextTable{}).dump(),
            R"({"columns":[],"explain":{},"rows":[],"title":""})");
}

}  // namespace
}  // namespace lockstep::internal
