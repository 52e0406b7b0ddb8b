// --config: options from TOML and from config.json, which the command line wins over.
#include "cli/config_file.h"

#include <lockstep/error.h>

#include "cli/command_options.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <optional>
#include <set>

namespace lockstep::internal::cli {
namespace {

using ::testing::ElementsAre;

constexpr unsigned kBit = run::kTrain;

/// What a command with a few options makes of a file and its arguments.
class ConfigFileTest : public ::testing::Test {
 protected:
  int batch_ = 64;
  double decay_ = 0;
  bool shuffle_ = true, augment_ = false;
  std::string model_ = "lenet5", optimizer_ = "sgd", hidden_;
  double beta_ = 0.9;
  std::optional<int> patience_;
  int other_ = 0;
  int shards_ = 0, threads_ = 0;
  std::string algorithm_ = "auto";
  std::vector<int> workers_{1, 2};
  testing::TemporaryFolder folder_;
  CLI::App app_;
  CLI::App* command_ = app_.add_subcommand("train");
  CommandOptions options_{*command_, own(), job(), kBit};

  run::Options job() {
    return {
        {.name = "--batch", .field = &batch_, .group = "A", .range = run::at_least(1)},
        {.name = "--weight-decay", .field = &decay_, .group = "A"},
        {.name = "--no-shuffle", .field = &shuffle_, .group = "A", .clears = true},
        {.name = "--augment", .field = &augment_, .group = "A"},
        {.name = "--model", .field = &model_, .group = "A", .choices = {"lenet5", "vgg11"}},
        {.name = "--optimizer", .field = &optimizer_, .group = "A"},
        {.name = "--beta1", .field = &beta_, .group = "A", .only_with = {"--optimizer", {"adam"}}},
        {.name = "--patience", .field = &patience_, .group = "A"},
        {.name = "--command", .field = &hidden_},
        {.name = "--shards", .field = &shards_, .group = "A"},
        {.name = "--threads", .field = &threads_, .group = "A", .resolved_from = {"--shards"}},
        {.name = "--algorithm",
         .field = &algorithm_,
         .group = "A",
         .resolved_from = {"--of-others"}},
        {.name = "--of-others", .field = &other_, .group = "A", .commands = run::kScale}};
  }

  run::Options own() { return {{.name = "--workers", .field = &workers_, .group = "B"}}; }

  void run(const std::string& content, std::vector<std::string> arguments = {},
           const std::set<std::string>& elsewhere = {}) {
    arguments.insert(arguments.begin(),
                     {"train", "--config", folder_.write("job.toml", content).string()});
    std::reverse(arguments.begin(), arguments.end());
    app_.parse(arguments);
    options_.finish(elsewhere);
  }

  void expect_refused(const std::string& content, std::initializer_list<std::string_view> parts) {
    testing::expect_error<UsageError>([&] { run(content); }, parts);
  }
};

TEST_F(ConfigFileTest, OptionsAreReadFromToml) {
  run("# a job\nbatch = 128\nweight-decay = 1\nno-shuffle = true\naugment = true\n"
      "model = 'vgg11'\nworkers = [4, 8]\npatience = 3\n");
  EXPECT_EQ(batch_, 128);
  EXPECT_EQ(decay_, 1.0);
  EXPECT_FALSE(shuffle_);
  EXPECT_TRUE(augment_);
  EXPECT_EQ(model_, "vgg11");
  EXPECT_THAT(workers_, ElementsAre(4, 8));
  EXPECT_EQ(patience_, 3);
  EXPECT_TRUE(options_.given("--batch") && options_.asked_for("--batch"));
  EXPECT_FALSE(options_.typed("--batch") || options_.given("--optimizer"));
}

TEST_F(ConfigFileTest, AFlagMayBeTurnedOff) {
  run("no-shuffle = false\naugment = false\n");
  EXPECT_TRUE(shuffle_);
  EXPECT_FALSE(augment_);
}

TEST_F(ConfigFileTest, TheCommandLineWins) {
  run("batch = 128\nmodel = 'vgg11'\nno-shuffle = false\n", {"--batch", "32", "--no-shuffle"});
  EXPECT_EQ(batch_, 32);
  EXPECT_EQ(model_, "vgg11");
  EXPECT_FALSE(shuffle_);
}

TEST_F(ConfigFileTest, UnknownKeysAreNamedWithTheirLine) {
  expect_refused("batch = 1\n\nbacth = 2\n",
                 {"job.toml:3: 'bacth' is not an option of lockstep train"});
}

TEST_F(ConfigFileTest, AnUnderscoreIsAnsweredWithTheDash) {
  expect_refused("weight_decay = 1.0\n", {"job.toml:1: ", "write 'weight-decay'"});
}

TEST_F(ConfigFileTest, OptionsOfOtherCommandsAndHiddenOnesAreUnknown) {
  expect_refused("of-others = 1\n", {"job.toml:1: 'of-others' is not an option"});
}

TEST_F(ConfigFileTest, HiddenOptionsAreUnknown) {
  expect_refused("command = 'x'\n", {"job.toml:1: 'command' is not an option"});
}

TEST_F(ConfigFileTest, ValuesOfTheWrongTypeAreNamedWithTheirLine) {
  expect_refused("model = 'vgg11'\nbatch = '128'\n",
                 {"job.toml:2: --batch must be a whole number, not \"128\""});
}

TEST_F(ConfigFileTest, TablesAndDatesAreNoValues) {
  expect_refused("[batch]\nsize = 1\n", {"job.toml:1: --batch must be a whole number, not object"});
}

TEST_F(ConfigFileTest, ADateIsNoText) {
  expect_refused("model = 2026-11-18\n", {"job.toml:1: --model must be a string, not object"});
}

TEST_F(ConfigFileTest, AFlagTakesNoNumber) {
  expect_refused("no-shuffle = 1\n", {"job.toml:1: --no-shuffle must be true or false, not 1"});
}

TEST_F(ConfigFileTest, ValuesOutOfRangeAreNamedWithTheirLine) {
  expect_refused("\nbatch = 0\n", {"job.toml:2: --batch is 0: it must be 1 or more"});
}

TEST_F(ConfigFileTest, OptionsThatDoNotApplyAreRefused) {
  expect_refused("beta1 = 0.8\n", {"--beta1 applies to --optimizer adam: leave it out with sgd"});
}

TEST_F(ConfigFileTest, AKeyGivenTwiceIsNamedWithItsLine) {
  expect_refused("batch = 1\nmodel = 'vgg11'\nbatch = 2\n", {"job.toml:3: ", "batch"});
}

TEST_F(ConfigFileTest, BadSyntaxIsNamedWithItsLine) {
  expect_refused("batch = 1\nmodel = vgg11\n", {"job.toml:2: "});
}

TEST_F(ConfigFileTest, BytesThatAreNoTextAreRefused) {
  expect_refused(std::string("batch = 1\n\xff\xfe\0", 13), {"job.toml:", "invalid utf-8"});
}

TEST_F(ConfigFileTest, FilesThatCannotBeReadAreNamed) {
  app_.parse("train --config " + (folder_.path() / "missing.toml").string());
  testing::expect_error<FileError>([&] { options_.finish(); }, {"missing.toml", "No such file"});
}

TEST_F(ConfigFileTest, HugeFilesAreRefused) {
  testing::expect_error<FileError>([&] { run(std::string(2 << 20, '#')); },
                                   {"longer than the 1048576 bytes"});
}

TEST_F(ConfigFileTest, AnEmptyFileChangesNothing) {
  run("");
  EXPECT_EQ(batch_, 64);
}

TEST_F(ConfigFileTest, TheRecordOfARunIsAccepted) {
  run(R"({"format": 1, "batch": 8, "weight_decay": 0.5, "shuffle": false, "patience": null,
          "machine": {"cores": 2}, "lr_full": 0.1, "beta1": 0.8, "of_others": 3})");
  EXPECT_EQ(batch_, 8);
  EXPECT_EQ(decay_, 0.5);
  EXPECT_FALSE(shuffle_);
  EXPECT_EQ(beta_, 0.8);  // recorded, though sgd has no use for it
  EXPECT_EQ(patience_, std::nullopt);
  EXPECT_TRUE(options_.given("--batch"));
  EXPECT_FALSE(options_.asked_for("--batch"));
}

constexpr const char* kResolved = R"({"shards": 4, "threads": 1, "batch": 8})";

TEST_F(ConfigFileTest, ResolvedValuesOfARecordAreKept) {
  run(kResolved);
  EXPECT_EQ(shards_, 4);
  EXPECT_EQ(threads_, 1);
}

TEST_F(ConfigFileTest, ATypedOptionResolvesOthersAnew) {
  run(kResolved, {"--shards", "2"});
  EXPECT_EQ(shards_, 2);
  EXPECT_EQ(threads_, 0);
  EXPECT_FALSE(options_.given("--threads"));
  EXPECT_EQ(batch_, 8);
}

TEST_F(ConfigFileTest, ATypedOptionLeavesOthersOfATomlFile) {
  run("threads = 3\nshards = 4\n", {"--shards", "2"});
  EXPECT_EQ(threads_, 3);
}

TEST_F(ConfigFileTest, ALauncherDecidesInsteadOfARecord) {
  run(kResolved, {}, {"--shards"});
  EXPECT_EQ(shards_, 0);
  EXPECT_EQ(threads_, 0);
  EXPECT_EQ(batch_, 8);
}

TEST_F(ConfigFileTest, ALauncherDecidesNothingInATomlFile) {
  run("shards = 4\n", {}, {"--shards"});
  EXPECT_EQ(shards_, 4);
}

TEST_F(ConfigFileTest, ValuesResolvedFromOptionsOfOtherCommandsAreResolvedAnew) {
  run(R"({"of_others": 3, "algorithm": "ring"})");
  EXPECT_EQ(algorithm_, "auto");
}

TEST_F(ConfigFileTest, ARecordHasNoOptionsOfTheStudyItself) {
  expect_refused(R"({"workers": 4})", {"job.toml:1: 'workers' is not an option"});
}

TEST_F(ConfigFileTest, ErrorsInJsonHaveALine) {
  expect_refused("{\"batch\": 8,\n \"model\": 1}", {"job.toml:2: --model must be a string, not 1"});
}

TEST_F(ConfigFileTest, UnknownKeysInJsonHaveALine) {
  expect_refused("{\"batch\": 8,\n\"bacth\": 1}", {"job.toml:2: 'bacth' is not an option"});
}

TEST_F(ConfigFileTest, AKeyGivenTwiceInJsonHasALine) {
  expect_refused("{\"batch\": 8,\n\"model\":\n\"vgg11\",\n\"batch\": 8}",
                 {"job.toml:4: 'batch' is given twice, first in line 1"});
}

TEST_F(ConfigFileTest, BadJsonHasALine) {
  expect_refused("{\"batch\": 8,\n\"model\": }", {"job.toml:2: "});
}

TEST_F(ConfigFileTest, ARecordOfANewerVersionIsRefused) {
  expect_refused("{\"format\": 2}", {"job.toml:1: unknown format"});
}

TEST_F(ConfigFileTest, JsonOfManyLevelsIsRefused) {
  expect_refused("{\"batch\": " + std::string(100000, '[') + std::string(100000, ']') + "}",
                 {"job.toml:1: too many levels of brackets"});
}

TEST_F(ConfigFileTest, TomlOfManyLevelsIsRefused) {
  std::string dotted = "a";
  for (int level = 0; level < 400'000; ++level) dotted += ".a";
  expect_refused(dotted + " = 1", {"job.toml:1: more than 4096 dots"});
}

TEST_F(ConfigFileTest, TooManyKeysAreRefused) {
  std::string text = "{\"batch\": 8";
  for (int key = 0; key < 2000; ++key) text += ",\n\"k" + std::to_string(key) + "\": 1";
  expect_refused(text + "}", {"job.toml:1001: more than 1000 keys"});
}

TEST_F(ConfigFileTest, ANumberThatIsTooLargeHasALine) {
  expect_refused("{\"batch\": 8,\n\"lr\": 1e999}", {"job.toml:2: "});
}

}  // namespace
}  // namespace lockstep::internal::cli
