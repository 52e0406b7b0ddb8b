// Options: values of fields, ranges, and errors for invalid values.
#include "run/option.h"

#include <lockstep/error.h>

#include "support/errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <gmock/gmock.h>

namespace lockstep::internal::run {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OptionTest : public ::testing::Test {
 protected:
  bool flag_ = false, shuffle_ = true;
  int whole_ = 2;
  std::size_t size_ = 3;
  double number_ = 0.5;
  std::string text_ = "a";
  std::filesystem::path path_ = "folder/file";
  std::optional<int> optional_;
  std::vector<int> list_{1, 2};

  Option option(const Option::Field& field, const Range& range = {}) {
    return {.name = "--some-name", .field = field, .range = range};
  }

  void expect_refused(const Option::Field& field, const json& value, const std::string& part) {
    testing::expect_error<UsageError>([&] { set_value(option(field), value); },
                                      {"--some-name must be ", part});
  }
};

TEST_F(OptionTest, HasANameForEachFormat) {
  EXPECT_EQ(key_of(option(&whole_)), "some-name");
  EXPECT_EQ(json_key_of(option(&whole_)), "some_name");
  EXPECT_EQ(json_key_of({.name = "--no-shuffle", .field = &shuffle_, .clears = true}), "shuffle");
}

TEST_F(OptionTest, EveryTypeGoesToJsonAndBack) {
  const std::vector<std::pair<Option::Field, json>> values{
      {&flag_, true},   {&whole_, -7},     {&size_, std::uint64_t{1} << 63},
      {&number_, 1e-8}, {&text_, "other"}, {&path_, "b"},
      {&optional_, 4},  {&list_, {4, 5}}};
  for (const auto& [field, value] : values) {
    set_value(option(field), value);
    EXPECT_EQ(value_of(option(field)), value);
  }
  set_value(option(&optional_), nullptr);
  EXPECT_EQ(value_of(option(&optional_)), nullptr);
  set_value(option(&number_), 2);
  EXPECT_EQ(number_, 2.0);
  set_value(option(&list_), 8);
  EXPECT_THAT(list_, ElementsAre(8));
}

TEST_F(OptionTest, AValueOfAnotherTypeIsRefused) {
  expect_refused(&flag_, 1, "true or false, not 1");
  expect_refused(&whole_, "many", "a whole number, not \"many\"");
  expect_refused(&whole_, 2.5, "a whole number, not 2.5");
  expect_refused(&whole_, std::int64_t{1} << 31, "a whole number");
  expect_refused(&whole_, -(std::int64_t{1} << 31) - 1, "a whole number");
  expect_refused(&size_, -1, "a whole number, not -1");
  expect_refused(&number_, true, "a number, not true");
  expect_refused(&text_, 3, "a string, not 3");
  expect_refused(&path_, json::array(), "a string, not array");
  expect_refused(&optional_, "x", "a whole number");
  expect_refused(&list_, {1, "x"}, "a list of whole numbers");
  expect_refused(&list_, json::object(), "a list of whole numbers, not object");
  expect_refused(&list_, json::array(), "a list of whole numbers");
  expect_refused(&text_, std::string("a\0b", 3), "a string");
  expect_refused(&path_, std::string("a\0b", 3), "a string");
  EXPECT_EQ(whole_, 2);
  EXPECT_THAT(list_, ElementsAre(1, 2));
}

TEST_F(OptionTest, ArgumentsGiveTheValue) {
  EXPECT_THAT(arguments_of(option(&number_)), ElementsAre("--some-name", "0.5"));
  EXPECT_THAT(arguments_of(option(&list_)), ElementsAre("--some-name", "1,2"));
  EXPECT_THAT(arguments_of(option(&path_)), ElementsAre("--some-name", "folder/file"));
  EXPECT_THAT(arguments_of(option(&optional_)), IsEmpty());
  EXPECT_THAT(arguments_of(option(&flag_)), IsEmpty());
  flag_ = true;
  EXPECT_THAT(arguments_of(option(&flag_)), ElementsAre("--some-name"));
  const Option clears{.name = "--no-shuffle", .field = &shuffle_, .clears = true};
  EXPECT_THAT(arguments_of(clears), IsEmpty());
  shuffle_ = false;
  EXPECT_THAT(arguments_of(clears), ElementsAre("--no-shuffle"));
}

TEST_F(OptionTest, NumbersOutOfRangeAreAnsweredWithTheRange) {
  const auto expect_out = [this](double value, const Range& range, const std::string& part) {
    number_ = value;
    testing::expect_error<UsageError>([&] { check(option(&number_, range)); }, {part});
  };
  expect_out(-1, at_least(0), "--some-name is -1: it must be a number from 0 up");
  expect_out(0, above(0), "--some-name is 0: it must be a number above 0");
  expect_out(1, from_to_below(0, 1), "--some-name is 1: it must be from 0 to below 1");
  expect_out(3, between(1, 2), "--some-name is 3: it must be from 1 to 2");
  expect_out(std::nan(""), at_least(0), "--some-name is nan");
  expect_out(INFINITY, at_least(0), "--some-name is inf");
  expect_out(98, {.low = 0, .high = 1, .without_low = true, .note = "0.98 is 98 %"},
             "it must be above 0 and up to 1; 0.98 is 98 %");
  whole_ = 0;
  testing::expect_error<UsageError>([&] { check(option(&whole_, at_least(1))); },
                                    {"--some-name is 0: it must be 1 or more"});
  list_ = {4, 0};
  testing::expect_error<UsageError>([&] { check(option(&list_, between(1, 9))); },
                                    {"--some-name has 0: each must be from 1 to 9"});
  EXPECT_NO_THROW(check(option(&optional_, at_least(1))));
}

TEST_F(OptionTest, TextsAreChosen) {
  Option choice{.name = "--some-name", .field = &text_, .choices = {"b", "c"}};
  testing::expect_error<UsageError>([&] { check(choice); },
                                    {"--some-name is 'a': choose one of b and c"});
  text_ = "";
  EXPECT_THROW(check(choice), UsageError);
  choice.may_be_empty = true;
  EXPECT_NO_THROW(check(choice));
}

TEST_F(OptionTest, ValuesAreDescribed) {
  EXPECT_EQ(describe_values(option(&whole_, at_least(1))), "a whole number, 1 or more");
  EXPECT_EQ(describe_values(option(&whole_, between(1, 4))), "a whole number from 1 to 4");
  EXPECT_EQ(describe_values(option(&number_, at_least(0))), "a number from 0 up");
  EXPECT_EQ(describe_values(option(&list_)), "a list of whole numbers");
  EXPECT_EQ(describe_values({.name = "--x", .field = &text_, .choices = {"a", "b", "c"}}),
            "a, b or c");
}

TEST_F(OptionTest, AnOptionMayDependOnAnother) {
  const Options options{
      {.name = "--text", .field = &text_},
      {.name = "--number", .field = &number_, .only_with = {"--text", {"b", "c"}}}};
  EXPECT_FALSE(applies(options[1], options));
  text_ = "c";
  EXPECT_TRUE(applies(options[1], options));
  EXPECT_TRUE(applies(options[0], options));
  EXPECT_EQ(find(options, "--number"), &options[1]);
  EXPECT_EQ(find(options, "--none"), nullptr);
}

}  // namespace
}  // namespace lockstep::internal::run
