#include "data/fetch/tar_file.h"

#include <lockstep/error.h>

#include "damage.h"
#include "data_files.h"
#include "tar_files.h"

#include <gtest/gtest.h>

#include <map>

namespace lockstep::internal::data {
namespace {

using Members = std::map<std::string, std::string>;

Members read_all(const std::filesystem::path& path) {
  TarFile tar(path);
  Members members;
  while (const auto header = tar.next()) {
    std::string content;
    std::array<std::uint8_t, 100> buffer;  // smaller than a block, so that reads cross block ends
    for (std::size_t got = buffer.size(); got == buffer.size();) {
      got = tar.read(buffer);
      content.append(reinterpret_cast<const char*>(buffer.data()), got);
    }
    EXPECT_EQ(content.size(), header->bytes);
    members[header->name] = content;
  }
  return members;
}

class Tar : public ::testing::Test {
 protected:
  Members read(const std::string& content) { return read_all(folder_.write("some.tar", content)); }

  void expect_refused(const std::string& content, std::initializer_list<std::string_view> parts) {
    const std::string path = (folder_.path() / "some.tar").string();
    expect_error<FileError>([&] { read(content); }, {path});
    expect_error<FileError>([&] { read(content); }, parts);
  }

  TemporaryFolder folder_;
};

TEST_F(Tar, ReadsPlainAndGzipAlike) {
  const std::string archive = tar_member("set/", "", '5') + tar_member("set/empty", "") +
                              tar_member("set/one", counting_bytes(512)) +
                              tar_member("set/two", counting_bytes(1300)) + kTarEnd;
  for (const std::string& content : {archive, gzip(archive)})
    EXPECT_EQ(read(content), (Members{{"set/empty", ""},
                                      {"set/one", counting_bytes(512)},
                                      {"set/two", counting_bytes(1300)}}));
}

TEST_F(Tar, SkipsUnreadFiles) {
  const auto path = folder_.write(
      "some.tar", tar_member("a", counting_bytes(5000)) + tar_member("b", "bb") + kTarEnd);
  TarFile tar(path);
  EXPECT_EQ(tar.next()->name, "a");
  std::array<std::uint8_t, 7> some;
  EXPECT_EQ(tar.read(some), 7u);
  EXPECT_EQ(tar.next()->name, "b");
  EXPECT_EQ(tar.read(some), 2u);
  EXPECT_EQ(tar.read(some), 0u);
  EXPECT_EQ(tar.next(), std::nullopt);
}

TEST_F(Tar, SkipsPaxHeaders) {
  EXPECT_EQ(read(tar_member("pax", "19 mtime=12345.678\n", 'x') + tar_member("a", "x") + kTarEnd),
            (Members{{"a", "x"}}));
}

TEST_F(Tar, JoinsThePrefixOfALongName) {
  std::string header = tar_header("name", 0);
  header.replace(345, 6, "prefix");
  put_sum(header);
  EXPECT_EQ(read(header + kTarEnd), (Members{{"prefix/name", ""}}));
  header.replace(345, 6, "../../");
  put_sum(header);
  expect_refused(header + kTarEnd, {"found one outside of it"});
}

TEST_F(Tar, RefusesNamesOutsideTheFolder) {
  for (std::string_view name : {"/etc/passwd", "../up", "a/../../up", "a/..", "..", ""})
    expect_refused(tar_member("fine", "") + tar_member(name, "x") + kTarEnd,
                   {"at offset 512 of the decompressed archive expected a name within the "
                    "archive's folder"});
  EXPECT_EQ(read(tar_member("a..b/..c", "") + kTarEnd).size(), 1u) << "names with dots are allowed";
}

TEST_F(Tar, RefusesMembersThatAreNeitherFileNorFolder) {
  for (char type : {'1', '2', '3', '4', '6', '7', 'L', 'K', 'S', 'Z'})
    expect_refused(tar_member("member", "", type) + kTarEnd,
                   {"at offset 0", "expected a file or a folder, found a member of type"});
}

TEST_F(Tar, RefusesADamagedHeader) {
  std::string archive = tar_member("a", "x") + kTarEnd;
  archive[3] ^= 1;
  expect_refused(archive, {"at offset 0", "whose bytes add up to"});
  std::string header = tar_header("a", 0);
  header.replace(124, 11, "0000000000z");
  put_sum(header);
  expect_refused(header + kTarEnd, {"expected the size of a member in octal digits"});
  header.replace(124, 12, 12, '7');  // as large as a header can state
  put_sum(header);
  expect_refused(header + kTarEnd, {"at offset 1512", "expected 100 more bytes, found the end"});
}

TEST_F(Tar, RefusesAnArchiveThatEndsEarly) {
  const std::string archive = tar_member("a", counting_bytes(600));
  expect_refused("", {"at offset 0", "expected 512 more bytes, found the end after 0"});
  expect_refused(archive.substr(0, 100), {"found the end after 100"});
  expect_refused(archive.substr(0, 1000), {"found the end"});
  expect_refused(archive, {"at offset 1536", "found the end after 0: get it again"});
}

TEST_F(Tar, RefusesFilesThatAreNotTar) {
  expect_refused("<!DOCTYPE html>" + std::string(600, ' '), {"at offset 0"});
}

std::string damaged_archive(Random& random) {
  std::string content = tar_member("set/", "", '5') + tar_member("set/one", counting_bytes(700)) +
                        tar_member("set/two", "22") + kTarEnd;
  for (std::uint64_t left = 1 + random.below(3); left > 0; --left) damage(content, random);
  return content;
}

TEST_F(Tar, ReadsOrRefusesEveryDamagedArchive) {
  const std::filesystem::path path = folder_.path() / "damaged.tar";
  expect_read_or_refused({path, 20240611, 2000}, damaged_archive, [&](Random&) { read_all(path); });
}

}  // namespace
}  // namespace lockstep::internal::data
