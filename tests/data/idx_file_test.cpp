#include "data/idx_file.h"

#include <lockstep/error.h>

#include "data_files.h"

#include <gtest/gtest.h>

#include <string>

namespace lockstep::internal::data {
namespace {

const std::string kWhole = idx_header({3, 2, 4}) + counting_bytes(24);

class IdxFile : public ::testing::Test {
 protected:
  IdxArray read(const std::string& content, int dimensions, std::size_t limit = kAllItems) {
    return read_idx(folder_.write("some-idx", content), dimensions, limit);
  }

  void expect_refused(const std::string& content, int dimensions,
                      std::initializer_list<std::string_view> parts) {
    const std::string path = (folder_.path() / "some-idx").string();
    expect_error<FileError>([&] { read(content, dimensions); }, {path});
    expect_error<FileError>([&] { read(content, dimensions); }, parts);
  }

  TemporaryFolder folder_;
};

TEST_F(IdxFile, ReadsPlainAndGzipAlike) {
  for (const std::string& content : {kWhole, gzip(kWhole)}) {
    IdxArray array = read(content, 3);
    EXPECT_EQ(array.shape, (std::vector<std::uint32_t>{3, 2, 4}));
    EXPECT_EQ(array.items, 3u);
    EXPECT_EQ(std::string(array.values.begin(), array.values.end()), counting_bytes(24));
  }
}

TEST_F(IdxFile, ReadsMoreThanOneBlock) {
  const std::string values = counting_bytes(1'000'003);
  for (const std::string& content :
       {idx_header({1'000'003}) + values, gzip(idx_header({1'000'003}) + values)}) {
    IdxArray array = read(content, 1);
    EXPECT_EQ(std::string(array.values.begin(), array.values.end()), values);
    EXPECT_EQ(array.values.capacity(), values.size()) << "memory is wasted";
  }
}

TEST_F(IdxFile, StopsAtTheLimit) {
  for (const std::string& content : {kWhole, gzip(kWhole)}) {
    IdxArray array = read(content, 3, 2);
    EXPECT_EQ(array.shape[0], 3u);
    EXPECT_EQ(array.items, 2u);
    EXPECT_EQ(array.values.size(), 16u);
    EXPECT_EQ(read(content, 3, 0).values.size(), 0u);
    EXPECT_EQ(read(content, 3, 3).items, 3u);
    EXPECT_EQ(read(content, 3, 4).items, 3u);
  }
}

TEST_F(IdxFile, DoesNotReadPastTheLimit) {
  EXPECT_EQ(read(kWhole.substr(0, 16 + 8), 3, 1).items, 1u);
  EXPECT_EQ(read(kWhole + "more", 3, 2).items, 2u);
}

TEST_F(IdxFile, AcceptsNoItems) {
  EXPECT_EQ(read(idx_header({0}), 1).items, 0u);
}

TEST_F(IdxFile, RefusesAMissingFile) {
  expect_error<FileError>([&] { read_idx(folder_.path() / "absent", 1); },
                          {"absent: cannot open: No such file or directory"});
}

TEST_F(IdxFile, RefusesAFolder) {
  expect_error<FileError>([&] { read_idx(folder_.path(), 1); },
                          {": cannot read at offset 0: Is a directory"});
}

TEST_F(IdxFile, RefusesAnotherMagicNumber) {
  expect_refused(
      kWhole, 1,
      {"at offset 0 expected the idx magic number 00000801 (unsigned bytes, 1 dimension)",
       "found 00000803", "check that this is the right file, or get it again"});
  expect_refused("<!DOCTYPE html>", 3, {"(unsigned bytes, 3 dimensions), found 3c21444f"});
  expect_refused(big_endian(0x0d01) + big_endian(0), 1, {"found 00000d01"});
}

TEST_F(IdxFile, RefusesAHeaderCutShort) {
  expect_refused("", 3,
                 {"at offset 0 expected 4 bytes of the idx magic number, found the end of the file "
                  "after 0"});
  expect_refused(kWhole.substr(0, 3), 3,
                 {"the idx magic number, found the end of the file after 3"});
  expect_refused(
      kWhole.substr(0, 14), 3,
      {"at offset 12 expected 4 bytes of dimension 3 of 3, found the end of the file after 2"});
}

TEST_F(IdxFile, RefusesElementsCutShort) {
  expect_refused(kWhole.substr(0, kWhole.size() - 1), 3,
                 {"at offset 39 expected 3 items of 8 bytes, 24 bytes after the header",
                  "found the end of the file after 23", "get it again"});
}

TEST_F(IdxFile, RefusesBytesAfterTheLastItem) {
  for (const std::string& content : {kWhole + "x", gzip(kWhole + "x")})
    expect_refused(
        content, 3,
        {"at offset 40 expected the end of the file after 3 items, found more bytes: check"});
}

// The sanitizers fail the test if the memory that the header states is allocated.
TEST_F(IdxFile, RefusesAbsurdCountsWithoutTheirMemory) {
  expect_refused(idx_header({0xffffffff, 28, 28}) + counting_bytes(100), 3,
                 {"at offset 116 expected 4294967295 items of 784 bytes, 3367254359280 bytes",
                  "found the end of the file after 100"});
  expect_refused(idx_header({0xffffffff, 0xffffffff, 0xffffffff}), 3,
                 {"at offset 8 expected items of at most 2147483648 bytes",
                  "found 4294967295, which makes them 4294967295"});
  expect_refused(idx_header({1, 65536, 65536}), 3,
                 {"at offset 12 expected items of at most 2147483648 bytes, found 65536, which "
                  "makes them 4294967296"});
}

TEST_F(IdxFile, RefusesGzipCutShort) {
  const std::string whole = gzip(kWhole);
  for (std::size_t cut : {std::size_t{3}, std::size_t{12}, whole.size() - 9, whole.size() - 1})
    expect_refused(whole.substr(0, cut), 3,
                   {"expected valid gzip data, found 'unexpected end of file'",
                    "the file is damaged, get it again"});
}

TEST_F(IdxFile, RefusesAWrongChecksum) {
  std::string damaged = gzip(kWhole);
  damaged[damaged.size() - 8] ^= 1;
  expect_refused(
      damaged, 3,
      {"of the decompressed content expected valid gzip data, found 'incorrect data check'"});
}

TEST_F(IdxFile, RefusesDamagedGzip) {
  std::string damaged = gzip(kWhole);
  damaged[10] = static_cast<char>(damaged[10] | 6);  // a block type that deflate does not have
  expect_refused(damaged, 3,
                 {"after offset 0 of the decompressed content", "found 'invalid block type'"});
}

}  // namespace
}  // namespace lockstep::internal::data
