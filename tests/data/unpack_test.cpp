// Unpacking of downloaded archives.
#include "data/fetch/unpack.h"

#include <lockstep/error.h>

#include "base/hash/sha256.h"
#include "data/fetch/part_file.h"
#include "data_files.h"
#include "tar_files.h"

#include <gtest/gtest.h>

#include <set>

namespace lockstep::internal::data {
namespace {

namespace fs = std::filesystem;

std::string sha256_of(const std::string& content) {
  Sha256 sha;
  sha.update(content.data(), content.size());
  return sha.hex();
}

class Unpack : public ::testing::Test {
 protected:
  Unpack() { fs::create_directory(folder_.path() / "out"); }

  void run(const Archive& archive, const std::string& content) {
    unpack(archive, folder_.write("archive", content), out(), [] { return true; });
  }

  void expect_refused(const Archive& archive, const std::string& content,
                      std::initializer_list<std::string_view> parts) {
    expect_error<FileError>([&] { run(archive, content); }, parts);
    EXPECT_EQ(names(), (std::set<std::string>{})) << "no file may be left behind";
  }

  fs::path out() const { return folder_.path() / "out"; }

  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(out())) names.insert(entry.path().filename());
    return names;
  }

  TemporaryFolder folder_;
  const std::string one_ = counting_bytes(300'000);
  const std::string two_ = "two";
  const Archive gzip_{.name = "one.gz",
                      .kind = Archive::Kind::gzip,
                      .files = {{"one", one_.size(), sha256_of(one_)}}};
  const Archive tar_{
      .name = "both.tar.gz",
      .kind = Archive::Kind::tar,
      .files = {{"one", one_.size(), sha256_of(one_)}, {"two", two_.size(), sha256_of(two_)}}};
};

TEST_F(Unpack, GzipGivesItsFile) {
  run(gzip_, gzip(one_));
  EXPECT_EQ(names(), (std::set<std::string>{"one"}));
  EXPECT_EQ(read_file(out() / "one"), one_);
  EXPECT_TRUE(is_published(gzip_.files[0], out()));
}

TEST_F(Unpack, TarGivesTheKnownFilesOnly) {
  run(tar_, gzip(tar_member("set/readme.html", "<p>") + tar_member("set/two", two_) +
                 tar_member("set/one", one_) + kTarEnd));
  EXPECT_EQ(names(), (std::set<std::string>{"one", "two"}));
  EXPECT_EQ(read_file(out() / "one"), one_);
}

TEST_F(Unpack, ReplacesExistingFiles) {
  write_file(out() / "one", "old");
  write_file(out() / "one.part", "half of an earlier one");
  EXPECT_FALSE(is_published(gzip_.files[0], out()));
  run(gzip_, gzip(one_));
  EXPECT_EQ(read_file(out() / "one"), one_);
  EXPECT_EQ(names(), (std::set<std::string>{"one"}));
}

TEST_F(Unpack, RefusesAnotherSum) {
  std::string other = one_;
  other[77] ^= 1;
  expect_refused(
      gzip_, gzip(other),
      {"archive: one: expected SHA-256 " + sha256_of(one_), "found " + sha256_of(other)});
  expect_refused(gzip_, gzip(one_.substr(1)), {"expected SHA-256"});
}

TEST_F(Unpack, RefusesAFileThatIsTooLongBeforeItFillsTheDisk) {
  expect_refused(gzip_, gzip(one_ + "x"), {"one: expected at most 300000 bytes, found more"});
  expect_refused(gzip_, gzip(std::string(50'000'000, '\0')), {"expected at most 300000 bytes"});
}

TEST_F(Unpack, RefusesAnArchiveThatLacksAFile) {
  expect_refused(tar_, tar_member("readme", "x") + kTarEnd,
                 {"one: expected this file, found the archive's end"});
}

TEST_F(Unpack, RefusesDamagedArchives) {
  expect_refused(gzip_, gzip(one_).substr(0, 200), {"expected valid gzip data"});
  expect_refused(tar_, tar_member("../one", one_) + kTarEnd, {"found one outside of it"});
  expect_refused(tar_, tar_member("one", "", '2') + kTarEnd, {"which may be a link"});
}

TEST_F(Unpack, StopsOnRequest) {
  expect_error<Error>(
      [&] { unpack(gzip_, folder_.write("archive", gzip(one_)), out(), [] { return false; }); },
      {"interrupted"});
  EXPECT_EQ(names(), (std::set<std::string>{}));
}

TEST_F(Unpack, AFullDiskIsAWriteError) {
  fs::remove(out());
  EXPECT_THROW(run(gzip_, gzip(one_)), WriteError);
}

TEST(PartFile, KeepsItsContentAndIsLocked) {
  TemporaryFolder folder;
  const fs::path path = folder.write("file.part", "begin");
  PartFile part(path);
  EXPECT_EQ(part.bytes(), 5u);
  expect_error<WriteError>([&] { PartFile second(path); }, {"another process is writing it"});
  part.append(" and end");
  EXPECT_EQ(part.bytes(), 13u);
  part.finish(folder.path() / "file");
  EXPECT_EQ(read_file(folder.path() / "file"), "begin and end");
  EXPECT_FALSE(fs::exists(path));
}

TEST(PublishedSets, SumsCanBeReplaced) {
  TemporaryFolder folder;
  const std::string sum(64, 'a');
  const PublishedSet cifar10 = published_set("cifar10");
  const PublishedSet chosen =
      with_sums_of(cifar10, folder.write("sums", sum + "  some/test_batch.bin\n"));
  ASSERT_EQ(chosen.archives.size(), 1u);
  ASSERT_EQ(chosen.archives[0].files.size(), 1u);
  EXPECT_EQ(chosen.archives[0].files[0].sha256, sum);
  EXPECT_EQ(
      with_sums_of(published_set("mnist"), folder.write("sums", sum + " *t10k-labels-idx1-ubyte\n"))
          .archives.size(),
      1u);
  for (const std::string& bad : {sum + "  other.bin\n", sum + "\n", std::string("no sum"),
                                 std::string(), "A" + sum + "  test_batch.bin"})
    expect_error<FileError>([&] { with_sums_of(cifar10, folder.write("sums", bad)); }, {"sums: "});
  expect_error<UsageError>([] { published_set("synthetic"); }, {"use mnist or cifar10"});
}

}  // namespace
}  // namespace lockstep::internal::data
