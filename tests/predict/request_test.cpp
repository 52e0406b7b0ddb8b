// lockstep-simulate refuses invalid requests, and lockstep predict refuses invalid results.
#include "simulate/request.h"

#include <lockstep/error.h>

#include "launch/process/tool.h"
#include "predict/simulator.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace lockstep::internal::predict {
namespace {

using comm::RecordedSteps;
using comm::StepKind;

template <typename T>
std::string bytes_of(const T* values, std::size_t count) {
  return {reinterpret_cast<const char*>(values), count * sizeof(T)};
}

std::string text_of(const simulate::Request& request, const std::vector<RecordedSteps>& ranks) {
  std::string text = bytes_of(&request, 1);
  for (const RecordedSteps& steps : ranks) {
    const std::uint64_t count = steps.size();
    text += bytes_of(&count, 1) + bytes_of(steps.data(), steps.size());
  }
  return text;
}

simulate::Request for_two() {
  return {.ranks = 2, .latency = 1e-6, .per_byte = 1e-9};
}

class SimulateRequests : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef LOCKSTEP_SIMULATE
    program_ = LOCKSTEP_SIMULATE;
#else
    GTEST_SKIP() << "this build has no simulator";
#endif
  }

  void run(const std::string& text) const {
    const auto request = folder_.write("request", text);
    launch::run_tool({program_, request, folder_.path() / "result"});
  }
  void expect_refused(const std::string& text, std::string_view part) const {
    testing::expect_error<Error>([&] { run(text); }, {part});
  }

  const testing::TemporaryFolder folder_;
  std::string program_;
};

TEST_F(SimulateRequests, ThatNeverEndAreErrors) {
  run(text_of(for_two(), {{{StepKind::send, 1, 8}, {StepKind::wait, 0, 0}},
                          {{StepKind::receive, 0, 8}, {StepKind::wait, 0, 0}}}));
  expect_refused(text_of(for_two(), {{{StepKind::receive, 1, 8}, {StepKind::wait, 0, 0}}, {}}),
                 "1 of 2 ranks wait forever");
}

TEST_F(SimulateRequests, WithInvalidStepsAreRefused) {
  for (const RecordedSteps& steps :
       {RecordedSteps{{StepKind::send, 2, 8}}, RecordedSteps{{StepKind::send, 0, 8}},
        RecordedSteps{{StepKind::receive, -1, 8}}, RecordedSteps{{StepKind::wait, 0, 0}},
        RecordedSteps{{StepKind::send, 1, 8}, {StepKind::wait, 1, 0}},
        RecordedSteps{{static_cast<StepKind>(17), 0, 8}}})
    expect_refused(text_of(for_two(), {steps, {}}), "an invalid step");
}

TEST_F(SimulateRequests, ThatAreDamagedAreRefused) {
  const std::string whole = text_of(for_two(), {{}, {}});
  expect_refused(whole.substr(0, whole.size() - 1), "too early");
  expect_refused(whole + "x", "data after its end");
  std::string endless = whole;
  const std::uint64_t many = std::numeric_limits<std::uint64_t>::max() / 8;
  std::memcpy(endless.data() + sizeof(simulate::Request), &many, sizeof(many));
  expect_refused(endless, "too early");
  simulate::Request request = for_two();
  request.topology = static_cast<simulate::Topology>(9);
  expect_refused(text_of(request, {{}, {}}), "not one of this version");
  request = for_two();
  request.per_byte = 0;
  expect_refused(text_of(request, {{}, {}}), "no bandwidth");
  request.per_byte = std::numeric_limits<double>::infinity();
  expect_refused(text_of(request, {{}, {}}), "an invalid number");
}

TEST(SimulateResults, ThatAreNotTimesAreErrors) {
  const testing::TemporaryFolder folder;
  for (const char* answer : {"0", "-1", "nan", "inf", "", "soon"}) {
    const auto program =
        folder.write("program", std::string("#!/bin/sh\necho ") + answer + " > \"$2\"\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    Simulator simulator({.program = program});
    testing::expect_error<Error>(
        [&] {
          simulator.seconds({comm::Operation::all_reduce, Algorithm::ring, 1e4},
                            {.world = {2, 1}, .network = parse_network("10gbit")});
        },
        {"lockstep-simulate's result is"});
  }
}

}  // namespace
}  // namespace lockstep::internal::predict
