#include "predict/recorded_run.h"

#include <lockstep/error.h>

#include "predict/recorded_runs.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace lockstep::internal::predict {
namespace {

constexpr const char* kConfig =
    R"({"format": 1, "workers": 1, "threads": 2, "batch": 32, "model": "made up",
        "dtype": "float32", "optimizer": "sgd", "momentum": 0.9})";

TEST(RecordedRuns, AreReadFromTheTraceWithoutItsFirstIteration) {
  const testing::TemporaryFolder folder;
  const RecordedRun truth = made_up_run();
  folder.write("config.json", kConfig);
  folder.write("trace.json", trace_of(truth, 4));
  const RecordedRun run = read_recorded_run(folder.path());
  EXPECT_EQ(run.model, "made up");
  EXPECT_EQ(run.batch, 32u);
  EXPECT_EQ(run.threads, 2);
  EXPECT_EQ(run.states, 1);
  EXPECT_NEAR(run.forward, truth.forward, 1e-9);
  EXPECT_NEAR(run.backward, truth.backward, 1e-9);
  EXPECT_NEAR(run.optimizer, truth.optimizer, 1e-9);
  EXPECT_NEAR(run.seconds(), truth.seconds(), 1e-9);
  ASSERT_EQ(run.gradients.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(run.gradients[i].name, truth.gradients[i].name);
    EXPECT_EQ(run.gradients[i].bytes, truth.gradients[i].bytes);
    EXPECT_NEAR(run.gradients[i].ready, truth.gradients[i].ready, 1e-9);
  }
}

TEST(RecordedRuns, AreRequired) {
  const testing::TemporaryFolder folder;
  auto read = [&] { read_recorded_run(folder.path()); };
  testing::expect_error<UsageError>(read, {"not the folder of a run", "lockstep train"});
  folder.write("config.json", kConfig);
  testing::expect_error<UsageError>(read, {"no trace", "--workers 1"});
  folder.write("trace.json", trace_of(made_up_run(), 1));
  testing::expect_error<UsageError>(read, {"two iterations"});
  RecordedRun without = made_up_run();
  without.gradients.clear();
  folder.write("trace.json", trace_of(without, 3));
  testing::expect_error<UsageError>(read, {"no gradients"});
  RecordedRun below = made_up_run();
  below.gradients[1].bytes = -4;
  folder.write("trace.json", trace_of(below, 3));
  testing::expect_error<FileError>(read, {"-4 bytes"});
  folder.write("config.json", R"({"format": 1, "workers": 4})");
  testing::expect_error<UsageError>(read, {"4 workers"});
  folder.write("config.json", "{");
  testing::expect_error<FileError>(read, {"config.json"});
  folder.write("config.json", kConfig);
  folder.write("trace.json", "{\"name\":\n");
  testing::expect_error<FileError>(read, {"trace.json"});
}

}  // namespace
}  // namespace lockstep::internal::predict
