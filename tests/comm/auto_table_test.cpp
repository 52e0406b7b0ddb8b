// The algorithms of each operation, and the choice of `auto`.
#include "comm/auto_table.h"

#include <lockstep/error.h>

#include "base/files.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <gmock/gmock.h>

namespace lockstep::internal::comm {
namespace {

using testing::HasSubstr;

constexpr Offers kShared{.shared_memory = true};
constexpr Offers kNone{};

template <typename Thrown, typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Thrown& error) {
    return error.what();
  }
  return "nothing was thrown";
}

std::string refusal(Operation operation, Algorithm algorithm, const Offers& offers) {
  return message_of<UsageError>(
      [&] { require_algorithm(operation, "the operation", algorithm, offers, "gloo"); });
}

std::string parse_error(std::string_view text) {
  return message_of<FileError>([&] { parse_auto_table(text, "my.table"); });
}

TEST(Algorithms, UnsupportedAlgorithmsAreOmitted) {
  using enum Algorithm;
  EXPECT_EQ(algorithms_of(Operation::all_gather, kShared), (std::vector{direct, ring}));
  EXPECT_EQ(algorithms_of(Operation::all_gather, kNone), (std::vector{ring}));
  EXPECT_EQ(algorithms_of(Operation::reduce, Offers{.native = true}),
            (std::vector{native, tree, star}));
  EXPECT_TRUE(algorithms_of(Operation::barrier, kShared).empty());
}

TEST(Algorithms, ErrorsListTheAlternatives) {
  EXPECT_THAT(refusal(Operation::all_reduce, Algorithm::direct, kNone),
              HasSubstr("'direct' needs ranks that share memory (thread, shm); the gloo transport "
                        "has ring, halving-doubling, tree and star"));
  EXPECT_THAT(refusal(Operation::reduce, Algorithm::ring, kNone),
              HasSubstr("the operation has no algorithm 'ring': choose from"));
  EXPECT_THAT(refusal(Operation::gather, Algorithm::ring, kNone),
              HasSubstr("a single implementation"));
  EXPECT_NO_THROW(
      require_algorithm(Operation::barrier, "barrier", Algorithm::automatic, kNone, ""));
  EXPECT_NO_THROW(require_algorithm(Operation::all_reduce, "", Algorithm::direct, kShared, "shm"));
}

TEST(AutoTable, FirstMatchingEntryWins) {
  const AutoTable table = parse_auto_table(
      "# a comment\n"
      "gloo 2 any star  # for two\n"
      "\n"
      "gloo 8 64K tree\n"
      "gloo any any halving-doubling\n",
      "table");
  auto picked = [&](int ranks, std::uint64_t bytes) {
    return pick(table, "gloo", kNone, ranks, bytes);
  };
  EXPECT_EQ(picked(1, 0), Algorithm::star);
  EXPECT_EQ(picked(2, 1 << 30), Algorithm::star);
  EXPECT_EQ(picked(3, 65536), Algorithm::tree);
  EXPECT_EQ(picked(8, 65536), Algorithm::tree);
  EXPECT_EQ(picked(8, 65537), Algorithm::halving_doubling);
  EXPECT_EQ(picked(9, 4), Algorithm::halving_doubling);
  EXPECT_EQ(pick(table, "mpi", kNone, 4, 4), Algorithm::ring);
}

TEST(AutoTable, EntriesTheTransportCannotRunAreSkipped) {
  const AutoTable table = parse_auto_table("mpi any any native\nmpi any any tree\n", "table");
  EXPECT_EQ(pick(table, "mpi", {.native = true}, 4, 4), Algorithm::native);
  EXPECT_EQ(pick(table, "mpi", kNone, 4, 4), Algorithm::tree);
}

TEST(AutoTable, BuiltInTableCoversEveryTransport) {
  const AutoTable& table = built_in_auto_table();
  for (int ranks : {1, 2, 3, 4, 1000}) {
    for (std::uint64_t bytes : {0ull, 4096ull, 1ull << 32}) {
      EXPECT_EQ(pick(table, "shm", kShared, ranks, bytes), Algorithm::direct);
      EXPECT_EQ(pick(table, "thread", kShared, ranks, bytes), Algorithm::direct);
      EXPECT_EQ(pick(table, "mpi", {.native = true}, ranks, bytes), Algorithm::native);
      EXPECT_EQ(pick(table, "shm+gloo", {.hierarchy = true}, ranks, bytes),
                Algorithm::hierarchical);
    }
  }
  EXPECT_EQ(pick(table, "gloo", kNone, 8, 4096), Algorithm::tree);
  EXPECT_EQ(pick(table, "gloo", kNone, 8, 36 << 20), Algorithm::ring);
  EXPECT_EQ(pick(table, "mpi", kNone, 8, 4096), Algorithm::tree);
}

TEST(AutoTable, TextRoundTrips) {
  const AutoTable table{{{"gloo", 2, 12345, Algorithm::star},
                         {"gloo", kAnyRanks, 1 << 20, Algorithm::ring},
                         {"shm+mpi", 1024, kAnyBytes, Algorithm::hierarchical}}};
  EXPECT_EQ(parse_auto_table(format_auto_table(table), "table").entries, table.entries);
  EXPECT_EQ(parse_auto_table(format_auto_table(built_in_auto_table()), "table").entries,
            built_in_auto_table().entries);
}

TEST(AutoTable, ErrorsNameTheFileAndTheLine) {
  EXPECT_THAT(parse_error("# fine\ngloo any any\n"), HasSubstr("my.table, line 2: 3 words"));
  EXPECT_THAT(parse_error("gloo any any ring ring\n"), HasSubstr("line 1: 5 words"));
  EXPECT_THAT(parse_error("pigeon any any ring\n"), HasSubstr("line 1: unknown transport"));
  EXPECT_THAT(parse_error("gloo 0 any ring\n"), HasSubstr("line 1: the number of ranks"));
  EXPECT_THAT(parse_error("gloo many any ring\n"), HasSubstr("line 1: the number of ranks"));
  EXPECT_THAT(parse_error("gloo any big ring\n"), HasSubstr("line 1: "));
  EXPECT_THAT(parse_error("gloo any any snail\n"), HasSubstr("unknown algorithm 'snail'"));
  EXPECT_THAT(parse_error("gloo any any auto\n"), HasSubstr("name another algorithm"));
  EXPECT_THAT(parse_error("gloo any any direct\n"), HasSubstr("share memory"));
}

TEST(AutoTable, FileEntriesPrecedeTheBuiltInEntries) {
  const std::string path = testing::TempDir() + "lockstep-auto-table-" + std::to_string(::getpid());
  write_file(path, "gloo any any star\n");
  const AutoTable table = load_auto_table(path);
  std::filesystem::remove(path);
  EXPECT_EQ(pick(table, "gloo", kNone, 8, 4096), Algorithm::star);
  EXPECT_EQ(pick(table, "shm", kShared, 8, 4096), Algorithm::direct);
  EXPECT_THROW(load_auto_table(path), FileError);
}

}  // namespace
}  // namespace lockstep::internal::comm
