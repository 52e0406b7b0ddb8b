#include <lockstep/error.h>

#include "base/check.h"
#include "base/deadline.h"
#include "base/file_lines.h"
#include "base/files.h"
#include "base/folder_lock.h"
#include "base/hash/crc32c.h"
#include "base/hash/sha256.h"
#include "base/random.h"
#include "base/text.h"
#include "base/thread.h"
#include "support/full_disk.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace lockstep::internal {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_ =
      fs::temp_directory_path() / fmt::format("lockstep-files-{}", static_cast<int>(::getpid()));
};

TEST_F(Files, WriteThenReadReturnsTheContent) {
  const std::string content(100'000, 'x');
  write_file(folder_ / "a", content);
  EXPECT_EQ(read_file(folder_ / "a"), content);
  write_file(folder_ / "a", "new");
  EXPECT_EQ(read_file(folder_ / "a"), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "a temporary file was left";
}

TEST_F(Files, FailedWriteKeepsTheOldContentAndLeavesNoTemporaryFile) {
  EXPECT_THROW(write_file(folder_ / "missing" / "a", "text"), FileError);
  EXPECT_THROW(write_file("/dev/full/a", "text"), FileError) << "its parent is no folder";
  fs::create_directory(folder_ / "taken");
  EXPECT_THROW(write_file(folder_ / "taken", "text"), FileError);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(Files, FullDiskKeepsTheOldContent) {
  write_file(folder_ / "a", "old");
  std::string message;
  try {
    const testing::FullDisk full(4096);
    write_file(folder_ / "a", std::string(100'000, 'x'));
  } catch (const FileError& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("a: cannot write: File too large"), std::string::npos) << message;
  EXPECT_EQ(read_file(folder_ / "a"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "a temporary file was left";
}

TEST_F(Files, LongerThanTheLimitIsRejected) {
  write_file(folder_ / "a", "12345");
  EXPECT_EQ(read_file(folder_ / "a", 5), "12345");
  EXPECT_THROW(read_file(folder_ / "a", 4), FileError);
  EXPECT_THROW(read_file(folder_ / "b"), FileError);
}

TEST_F(Files, OpenedFilesStayClosedInOtherPrograms) {
  write_file(folder_ / "a", "text");
  EXPECT_EQ(::fcntl(open_file(folder_ / "a", O_RDONLY).get(), F_GETFD), FD_CLOEXEC);
  EXPECT_FALSE(open_file(folder_ / "missing", O_RDONLY));
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(Files, SystemFilesThatCannotBeReadAreEmpty) {
  EXPECT_GT(read_system_file("/proc/self/maps").size(), 4096u) << "longer than one read";
  EXPECT_EQ(read_system_file(folder_ / "missing"), "");
  EXPECT_EQ(read_system_file(folder_), "");
}

TEST_F(Files, ARedirectedDescriptorWritesNowhereAndStaysOpenInOtherPrograms) {
  const UniqueFd file = open_file(folder_ / "a", O_WRONLY | O_CREAT);
  redirect_to_null(file.get());
  EXPECT_EQ(::write(file.get(), "text", 4), 4);
  EXPECT_EQ(read_file(folder_ / "a"), "");
  EXPECT_EQ(::fcntl(file.get(), F_GETFD), 0);
}

TEST(RedirectToNull, OpensStandardInputIfItIsClosed) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(STDIN_FILENO);
    redirect_to_null(STDIN_FILENO);
    char byte = 0;
    ::_exit(::read(STDIN_FILENO, &byte, 1) == 0 && ::fcntl(STDIN_FILENO, F_GETFD) == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(Files, FoldersAreCreatedOrRejected) {
  make_folder(folder_ / "x" / "y");
  EXPECT_TRUE(fs::is_directory(folder_ / "x" / "y"));
  write_file(folder_ / "file", "");
  EXPECT_THROW(make_folder(folder_ / "file" / "z"), FileError);
}

TEST_F(Files, FolderLockIsExclusiveUntilItsOwnerEnds) {
  {
    const FolderLock owner(folder_, "taken");
    EXPECT_THROW(FolderLock(folder_, "taken"), FileError);
  }
  const FolderLock next(folder_, "taken");
  EXPECT_TRUE(fs::is_empty(folder_)) << "nothing is to be left behind";
  EXPECT_NO_THROW(FolderLock(folder_ / "missing", "taken"));
}

TEST_F(Files, AskingForALockNeverHindersItsOwner) {
  EXPECT_FALSE(FolderLock::is_held(folder_));
  EXPECT_FALSE(FolderLock::is_held(folder_ / "missing"));
  std::atomic<bool> done = false;
  Thread asks("asks", [&] {
    while (!done) FolderLock::is_held(folder_);
  });
  for (int i = 0; i < 20'000; ++i) {
    const FolderLock owner(folder_, "taken");
    EXPECT_TRUE(i % 1000 != 0 || FolderLock::is_held(folder_));
  }
  done = true;
}

class Followed : public Files {
 protected:
  /// What a read calls: "restart" or the line.
  std::vector<std::string> read() {
    std::vector<std::string> calls;
    followed_.read([&] { calls.emplace_back("restart"); },
                   [&](std::string_view line) { calls.emplace_back(line); });
    return calls;
  }
  void append(const std::string& text) {
    const UniqueFd file = open_file(folder_ / "lines", O_WRONLY | O_APPEND | O_CREAT);
    write_all(file.get(), text, "lines");
  }
  using Calls = std::vector<std::string>;

  FollowedLines followed_{folder_ / "lines"};
};

TEST_F(Followed, LinesAreTakenOnceAndWhenTheyAreWhole) {
  EXPECT_EQ(read(), Calls{});
  append("one\ntwo\nthr");
  EXPECT_EQ(read(), (Calls{"one", "two"}));
  EXPECT_EQ(read(), Calls{});
  append("ee\n");
  EXPECT_EQ(read(), Calls{"three"});
}

TEST_F(Followed, AReplacedCutOrRemovedFileIsReadFromItsStart) {
  append("one\ntwo\n");
  EXPECT_EQ(read(), (Calls{"one", "two"}));
  write_file(folder_ / "lines", "one\nother\n");
  EXPECT_EQ(read(), (Calls{"restart", "one", "other"}));
  fs::resize_file(folder_ / "lines", 4);
  EXPECT_EQ(read(), (Calls{"restart", "one"}));
  fs::remove(folder_ / "lines");
  EXPECT_EQ(read(), Calls{"restart"});
  EXPECT_EQ(read(), Calls{});
}

TEST_F(Followed, OnlyTheEndOfALongFileIsRead) {
  append("a long first line\nlast\n");
  FollowedLines end(folder_ / "lines", 8);
  Calls lines;
  end.read([] {}, [&](std::string_view line) { lines.emplace_back(line); });
  EXPECT_EQ(lines, Calls{"last"});
}

TEST_F(Followed, HugeLinesAreSkipped) {
  append(std::string(3 << 20, 'x'));
  EXPECT_EQ(read(), Calls{});
  append("x\nshort\n");
  EXPECT_EQ(read(), Calls{"short"});
}

TEST(Text, EnumeratesAndSplits) {
  EXPECT_EQ(enumerate({}), "");
  EXPECT_EQ(enumerate({"a"}), "a");
  EXPECT_EQ(enumerate({"a", "b"}), "a and b");
  EXPECT_EQ(enumerate({"a", "b", "c"}), "a, b and c");
  EXPECT_EQ(split("", ','), std::vector<std::string>{});
  EXPECT_EQ(split("a", ','), std::vector<std::string>{"a"});
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string>{"a", "", "b", ""}));
}

TEST(Text, RanksWithEqualTextsAreGrouped) {
  EXPECT_EQ(by_rank({"a", "b", "a", ""}, "said"), "ranks 0 and 2 said a; rank 1 said b");
  EXPECT_EQ(by_rank({"", ""}, "said"), "");
}

TEST(Text, SizesAreParsedAndFormattedWithSuffixes) {
  EXPECT_EQ(parse_bytes("0"), 0u);
  EXPECT_EQ(parse_bytes("4096"), 4096u);
  EXPECT_EQ(parse_bytes("64K"), 65536u);
  EXPECT_EQ(parse_bytes("36M"), 36u << 20);
  EXPECT_EQ(parse_bytes("2G"), 2ull << 30);
  for (const char* bad : {"", "K", "-1", "1.5M", "12X", "64 K", "99999999999999999999", "9999G"})
    EXPECT_THROW(parse_bytes(bad), UsageError) << bad;
  EXPECT_EQ(format_bytes(65536), "64K");
  EXPECT_EQ(format_bytes(36 << 20), "36M");
  EXPECT_EQ(format_bytes(1000), "1000");
}

TEST(Text, ShellQuotingRoundTrips) {
  EXPECT_EQ(shell_quoted({"lockstep", "train", "--lr=0.1", "a/b.c"}),
            "lockstep train --lr=0.1 a/b.c");
  const std::vector<std::string> words{"printf", "%s|", "",   "a b", "it's", "$HOME",
                                       "*",      "~",   "\\", "\n",  "ü",    "a;b"};
  FILE* shell = ::popen(shell_quoted(words).c_str(), "r");
  char output[100] = {};
  output[std::fread(output, 1, sizeof output - 1, shell)] = '\0';
  ::pclose(shell);
  EXPECT_STREQ(output, "|a b|it's|$HOME|*|~|\\|\n|ü|a;b|");
}

TEST(Text, NumbersOutOfRangeAreRejectedByName) {
  EXPECT_EQ(parse_integer("7", "RANK", 0, 10), 7);
  for (const char* bad : {"", "x", "7x", "11", "-1", "1e3", "99999999999999999999"}) {
    try {
      parse_integer(bad, "RANK", 0, 10);
      ADD_FAILURE() << "accepted " << bad;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("RANK"), std::string::npos);
    }
  }
}

TEST(Crc32c, MatchesPublishedVectors) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);  // these vectors are from RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(Sha256, MatchesPublishedVectors) {
  Sha256 empty;
  EXPECT_EQ(empty.hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 abc;
  abc.update("a", 1);
  abc.update("bc", 2);
  EXPECT_EQ(abc.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Random, MatchesSplitMix64sPublishedSequence) {
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317ull);
  EXPECT_EQ(random.next(), 3203168211198807973ull);
  EXPECT_EQ(random.next(), 9817491932198370423ull);
}

TEST(Random, BelowIsUniformAndInRange) {
  Random random(1);
  std::vector<int> counts(7);
  for (int i = 0; i < 70'000; ++i) ++counts[random.below(7)];
  // Six standard deviations of a binomial count around 10,000.
  for (int count : counts) EXPECT_NEAR(count, 10'000, 6 * 93);
}

TEST(Random, StreamsOfOneSeedDiffer) {
  EXPECT_NE(Random(1, 2).next(), Random(1, 3).next());
  EXPECT_NE(Random(1, 2, 3).next(), Random(1, 3, 2).next());
  EXPECT_EQ(Random(1, 2, 3).next(), Random(1, 2, 3).next());
}

TEST(Random, PermutationContainsEveryNumberOnce) {
  auto order = permutation(1000, Random(3));
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(order[i], i);
  EXPECT_TRUE(permutation(0, Random(3)).empty());
}

TEST(Deadline, PassesAndNeverGoesNegative) {
  EXPECT_TRUE(Deadline::after(std::chrono::milliseconds(0)).passed());
  EXPECT_EQ(Deadline::after(std::chrono::milliseconds(-5)).left().count(), 0);
  EXPECT_FALSE(Deadline::after(std::chrono::hours(1)).passed());
}

TEST(Check, ReportsABug) {
  try {
    LOCKSTEP_CHECK(1 == 2, "one is {}", 1);
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("a bug in Lockstep"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("one is 1"), std::string::npos);
  }
}

}  // namespace
}  // namespace lockstep::internal
