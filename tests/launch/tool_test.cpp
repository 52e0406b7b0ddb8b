// Running system tools: their output, and their end.
#include "launch/process/tool.h"

#include <lockstep/error.h>

#include "base/deadline.h"
#include "base/files.h"
#include "base/sleep.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <signal.h>

namespace lockstep::internal::launch {
namespace {

constexpr std::chrono::minutes kLong(5);

std::string shell(const std::string& script, std::chrono::milliseconds timeout = kLong,
                  const std::map<std::string, std::string>& variables = {}) {
  return read_tool({"sh", "-c", script}, variables, timeout);
}

TEST(ReadTool, ReturnsTheOutputWithTheVariables) {
  EXPECT_EQ(shell("echo $GREETING; echo noise >&2", kLong, {{"GREETING", "hello"}}), "hello\n");
}

TEST(ReadTool, NamesTheFailureAndItsErrorOutput) {
  testing::expect_error<Error>([] { shell("echo 'the reason' >&2; exit 7"); },
                               {"sh failed with code 7: the reason"});
  testing::expect_error<UsageError>([] { read_tool({"/no/such/tool"}, {}, kLong); },
                                    {"cannot start '/no/such/tool'"});
}

/// The process whose number a script wrote to the file.
pid_t process_in(const std::filesystem::path& file) {
  return std::stoi(read_file(file));
}

bool ends(pid_t process) {
  const Deadline deadline = Deadline::after(kLong);
  while (::kill(process, 0) == 0 && !deadline.passed()) sleep_for(std::chrono::milliseconds(5));
  return ::kill(process, 0) != 0;
}

TEST(ReadTool, EndsEveryProcessAfterTheTimeout) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "child";
  const std::string script = "setsid sleep 1000 & echo $! > " + file.string() + "; sleep 1000";
  testing::expect_error<Error>([&] { shell(script, std::chrono::seconds(1)); },
                               {"was ended after 1 s"});
  EXPECT_TRUE(ends(process_in(file)));
}

TEST(ReadTool, EndsProcessesThatTheProgramLeaves) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "child";
  EXPECT_EQ(shell("setsid sleep 1000 & echo $! > " + file.string() + "; echo done"), "done\n");
  EXPECT_TRUE(ends(process_in(file)));
}

}  // namespace
}  // namespace lockstep::internal::launch
