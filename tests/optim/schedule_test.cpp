// Compares schedules with PyTorch's schedulers (tests/reference/optimizers.py), and tries malformed
// texts.
#include "optim/schedule.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "support/errors.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace lockstep::internal::optim {
namespace {

using Json = nlohmann::json;

const Json& reference() {
  static const Json json =
      Json::parse(read_file(LOCKSTEP_TEST_SOURCE "/tests/reference/schedules.json"));
  return json;
}

void expect_rates(const std::string& text, const std::vector<double>& rates, double warmup) {
  const Schedule schedule(reference().at("rate"), parse_shape(text),
                          {.steps = rates.size(),
                           .steps_per_epoch = reference().at("steps_per_epoch"),
                           .warmup = warmup});
  for (std::size_t step = 0; step < rates.size(); ++step)
    EXPECT_NEAR(schedule.rate(step), rates[step], 1e-12) << text << ", step " << step;
}

TEST(Schedules, EqualTorchs) {
  for (const auto& [text, rates] : reference().at("rates").items()) expect_rates(text, rates, 0);
  EXPECT_EQ(reference().at("rates").size(), 10u);
}

TEST(Schedules, BeginWhereTheWarmUpEnds) {
  for (const auto& [text, rates] : reference().at("warm_rates").items())
    expect_rates(text, rates, reference().at("warmup"));
}

TEST(Schedules, StepsAreCountedFromTheStartInSpiteOfAWarmUp) {
  const Schedule schedule(1, parse_shape("step:1,0.5"),
                          {.steps = 6, .steps_per_epoch = 2, .warmup = 1});
  const std::vector<double> expected{0.5, 1, 0.5, 0.5, 0.25, 0.25};
  for (std::size_t step = 0; step < 6; ++step) EXPECT_EQ(schedule.rate(step), expected[step]);
}

TEST(Schedules, OfASingleStepAreDefined) {
  for (const char* text :
       {"constant", "step:1", "multi-step:1+2", "cosine", "cyclic:1", "one-cycle", "polynomial:2"})
    for (std::size_t step : {0u, 1u, 5u}) {
      const double rate = Schedule(1, parse_shape(text), {}).rate(step);
      EXPECT_TRUE(rate >= 0 && rate <= 1) << text << ": " << rate;
    }
  EXPECT_EQ(Schedule(1, parse_shape("one-cycle"), {}).rate(0), 1);
}

TEST(Schedules, KnowWhetherTheySpanTheTraining) {
  for (const char* text : {"cosine", "one-cycle", "polynomial:2"})
    EXPECT_TRUE(parse_shape(text).spans_training()) << text;
  for (const char* text : {"constant", "step:1", "multi-step:1+2", "cyclic:1"})
    EXPECT_FALSE(parse_shape(text).spans_training()) << text;
}

TEST(Schedules, MalformedTextsAreRefusedWithTheValidForms) {
  const std::vector<std::pair<const char*, const char*>> bad{
      {"", "unknown schedule"},
      {"steps:3", "unknown schedule"},
      {"step", "a number is missing"},
      {"step:", "nothing after the colon"},
      {"step:x", "'x' is not a number"},
      {"step:3x", "'3x' is not a number"},
      {"step:inf", "'inf' is not a number"},
      {"step:0", "it must be more than 0"},
      {"step:-1", "it must be more than 0"},
      {"step:3,2", "it must be from 0 to 1"},
      {"step:3,0.1,4", "too many numbers"},
      {"multi-step:3+2", "its epochs must ascend"},
      {"multi-step:3+3", "its epochs must ascend"},
      {"multi-step:3+,0.1", "is not a number"},
      {"multi-step:,0.1", "a number is missing"},
      {"cosine:2", "it must be from 0 to 1"},
      {"cosine:0,1", "too many numbers"},
      {"constant:1", "too many numbers"},
      {"cyclic", "a number is missing"},
      {"polynomial:0", "must be more than 0"},
      {"one-cycle:-0.1", "it must be from 0 to 1"}};
  for (const auto& [text, words] : bad)
    testing::expect_error<UsageError>([&] { parse_shape(text); },
                                      {"--schedule is '", words, "step:EVERY[,FACTOR]"});
}

TEST(Schedules, AWarmUpAsLongAsTheTrainingIsRefused) {
  const TrainingLength length{.steps = 8, .steps_per_epoch = 4, .warmup = 2};
  testing::expect_error<UsageError>([&] { Schedule(1, {}, length); },
                                    {"--warmup is 2 epochs", "shorter than the training of 8"});
  EXPECT_EQ(Schedule(1, {}, {.steps = 8, .steps_per_epoch = 4, .warmup = 1.75}).rate(6), 1);
}

TEST(RateScale, FollowsTheBatch) {
  EXPECT_EQ(rate_scale("none", 1024, 256), 1);
  EXPECT_EQ(rate_scale("linear", 1024, 256), 4);
  EXPECT_EQ(rate_scale("linear", 64, 256), 0.25);
  EXPECT_EQ(rate_scale("sqrt", 1024, 256), 2);
  testing::expect_error<UsageError>([] { rate_scale("cubic", 1, 1); }, {"none, linear and sqrt"});
}

}  // namespace
}  // namespace lockstep::internal::optim
