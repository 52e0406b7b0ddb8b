#include "launch/process/lines.h"

#include <gtest/gtest.h>

namespace lockstep::internal::launch {
namespace {

using Lines = std::vector<std::string>;

TEST(LineCutter, ReturnsWholeLinesForAnyFragmentation) {
  const std::string text = "one\n\ntwo\nthree";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    LineCutter cutter;
    Lines lines = cutter.add(text.substr(0, cut));
    for (const std::string& line : cutter.add(text.substr(cut))) lines.push_back(line);
    EXPECT_EQ(lines, (Lines{"one\n", "\n", "two\n"}));
    EXPECT_TRUE(cutter.has_rest());
    EXPECT_EQ(cutter.take_rest(), "three");
    EXPECT_FALSE(cutter.has_rest());
  }
}

TEST(LineCutter, SplitsEndlessLines) {
  LineCutter cutter;
  const std::string text(LineCutter::kLongest + 5, 'x');
  EXPECT_EQ(cutter.add(text), (Lines{std::string(LineCutter::kLongest, 'x')}));
  EXPECT_EQ(cutter.take_rest(), "xxxxx");
}

TEST(LastLines, KeepsTheLastTen) {
  LastLines last;
  for (int line = 0; line < 25; ++line) last.add(std::to_string(line) + "\n");
  const Lines lines = last.lines();
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines.front(), "15");
  EXPECT_EQ(lines.back(), "24");
}

TEST(LastLines, ShowsAnIncompleteLineAndTheFinalStateOfAProgressBar) {
  LastLines last;
  last.add("10 %\r20 %");
  last.add("\r30 %\nwindows\r\nstop");
  EXPECT_EQ(last.lines(), (Lines{"30 %", "windows", "stop"}));
}

TEST(LastLines, CutsLongLines) {
  LastLines last;
  last.add(std::string(1'000'000, 'x') + "\n");
  EXPECT_EQ(last.lines(), (Lines{std::string(LastLines::kLength, 'x')}));
}

}  // namespace
}  // namespace lockstep::internal::launch
