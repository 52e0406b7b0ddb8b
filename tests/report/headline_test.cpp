// What a page says first: of runs that failed or diverged.
#include "report/headline.h"

#include "base/files.h"
#include "report/run_files.h"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace lockstep::internal::report {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Headline : public ::testing::Test {
 protected:
  std::filesystem::path run(const std::string& name) {
    write_run(folder_.path() / name, "ddp");
    return folder_.path() / name;
  }
  /// Changes fields of a JSON file.
  static void change(const std::filesystem::path& file, const nlohmann::json& fields) {
    nlohmann::json json = nlohmann::json::parse(read_file(file));
    json.update(fields);
    write_file(file, json.dump());
  }
  static std::string verdict(const std::filesystem::path& folder) {
    return verdict_of(read_source({folder}));
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(Headline, OfAFailedRunIsItsPostMortem) {
  const auto folder = run("a");
  std::filesystem::remove(folder / "summary.json");
  write_file(folder / "postmortem.json", R"({"format": 1, "ranks": [], "verdict":
    ["rank 1 (pid 7) was ended by signal 9 (Killed) in step 21", "rank 0 waited for rank 1"]})");
  EXPECT_EQ(
      verdict(folder),
      "Rank 1 (pid 7) was ended by signal 9 (Killed) in step 21. Rank 0 waited for rank 1. It is "
      "recorded up to iteration 20 of 20. There is no checkpoint to resume from: "
      "--checkpoint-every N writes them. With --restarts N, a run that loses a worker starts "
      "again from its newest checkpoint. With --elastic and --shards, it continues without "
      "that worker.");
}

TEST_F(Headline, OfAFailedRunNamesTheNewestCheckpointAndUnusedOptions) {
  const auto folder = run("a");
  std::filesystem::remove(folder / "summary.json");
  write_file(folder / "postmortem.json",
             R"({"format": 1, "ranks": [], "verdict": ["rank 1 stalled"]})");
  std::filesystem::create_directory(folder / "checkpoints");
  write_file(folder / "checkpoints" / "iteration-00000009.safetensors", "");
  write_file(folder / "checkpoints" / "iteration-00000010.safetensors", "");
  const std::string resume =
      "To continue after iteration 10, repeat the command with --resume --run-dir " +
      folder.string() + ".";
  EXPECT_THAT(verdict(folder), HasSubstr(resume + " With --restarts N,"));
  change(folder / "config.json", {{"restarts", 2}});
  EXPECT_THAT(verdict(folder), HasSubstr(resume + " With --elastic"));
  change(folder / "config.json", {{"elastic", true}});
  EXPECT_THAT(verdict(folder), EndsWith(resume));
}

TEST_F(Headline, OfAMalformedPostMortemIsThatOfAKilledRun) {
  const auto folder = run("a");
  std::filesystem::remove(folder / "summary.json");
  write_file(folder / "postmortem.json", "[]");
  EXPECT_THAT(verdict(folder), StartsWith("The run was stopped or killed."));
}

TEST_F(Headline, OfSeveralRunsNotesThoseThatDiverged) {
  const std::string text = "Diverged: the training loss is 900 in iteration 7.";
  change(run("a") / "summary.json",
         {{"verdict", text}, {"bottleneck", {{"kind", "diverged"}, {"share", 0}, {"gain", 1}}}});
  run("b");
  const auto notes = notes_of(read_source({folder_.path() / "a", folder_.path() / "b"}));
  EXPECT_THAT(notes, Contains(EndsWith(": " + text)));
  EXPECT_THAT(verdict(folder_.path() / "a"), text);
  EXPECT_THAT(notes_of(read_source({folder_.path() / "b"})), Not(Contains(HasSubstr("Diverged"))));
}

}  // namespace
}  // namespace lockstep::internal::report
