#include "run/run_folder.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/text.h"
#include "support/errors.h"
#include "support/full_disk.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

namespace lockstep::internal::run {
namespace {

Record iteration(std::size_t number) {
  Record record;
  record.iteration = static_cast<double>(number);
  record.samples = 1;
  return record;
}

TEST(RunFolderOnAFullDisk, ReportsLostLinesOnceAndTearsNone) {
  const testing::TemporaryFolder folder;
  RunFolder run(folder.path(), nlohmann::json::object(), {});
  run.add_iterations(0, std::vector{iteration(1)});
  {
    const std::size_t bytes = read_file(folder.path() / "metrics.jsonl").size();
    const testing::FullDisk full(bytes + bytes / 2);
    run.add_iterations(0, std::vector{iteration(2), iteration(3)});
    testing::expect_error<FileError>([&] { run.flush(); },
                                     {"metrics.jsonl: could not be written completely"});
  }
  run.add_iterations(0, std::vector{iteration(4)});
  EXPECT_NO_THROW(run.flush());
  std::vector<int> iterations;
  for (const std::string& line : split(read_file(folder.path() / "metrics.jsonl"), '\n'))
    if (!line.empty()) iterations.push_back(nlohmann::json::parse(line).at("iteration"));
  EXPECT_EQ(iterations, (std::vector{1, 2, 4})) << "the line that was begun is completed";
}

TEST(RunFolder, AppendsToTheMetricsOfAResumedRun) {
  const testing::TemporaryFolder folder;
  RunFolder(folder.path(), nlohmann::json::object(), {})
      .add_iterations(0, std::vector{iteration(1), iteration(2)});
  RunFolder resumed(folder.path(), nlohmann::json::object(), {.iterations = 1});
  resumed.add_iterations(0, std::vector{iteration(2)});
  resumed.add_test(iteration(2));
  resumed.flush();
  const auto lines = split(read_file(folder.path() / "metrics.jsonl"), '\n');
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(nlohmann::json::parse(lines[0]).at("iteration"), 1);
  EXPECT_EQ(nlohmann::json::parse(lines[1]).at("iteration"), 2);
  EXPECT_EQ(nlohmann::json::parse(lines[2]).at("kind"), "test");
}

TEST(RunFolder, KeepsTheEpochAndTheTestOfARunThatAnExceptionEnds) {
  const testing::TemporaryFolder folder;
  try {
    RunFolder run(folder.path(), nlohmann::json::object(), {});
    run.add_epoch(0, iteration(2));
    run.add_test(iteration(2));
    throw Error("the weights cannot be saved");
  } catch (const Error&) {
  }
  const auto lines = split(read_file(folder.path() / "metrics.jsonl"), '\n');
  ASSERT_EQ(lines.size(), 3u) << "two lines and the end of the second";
  EXPECT_EQ(nlohmann::json::parse(lines[0]).at("kind"), "epoch");
  EXPECT_EQ(nlohmann::json::parse(lines[1]).at("kind"), "test");
}

TEST(RunFolder, ResumesBehindDamagedMetrics) {
  const testing::TemporaryFolder folder;
  RunFolder(folder.path(), nlohmann::json::object(), {})
      .add_iterations(0, std::vector{iteration(1)});
  const std::filesystem::path metrics = folder.path() / "metrics.jsonl";
  const std::string sound = read_file(metrics);
  const std::string zeros((3 << 20) + 1, '\0');  // longer than any line; a crash of the host
  for (const std::string& damaged : {sound + zeros, sound + zeros + '\n' + sound}) {
    write_file(metrics, damaged);
    RunFolder(folder.path(), nlohmann::json::object(), {.iterations = 1});
    EXPECT_EQ(read_file(metrics).find(sound), 0u);
    EXPECT_LT(read_file(metrics).size(), 3 * sound.size());
  }
}

}  // namespace
}  // namespace lockstep::internal::run
