#include "launch/environment/token_file.h"

#include <lockstep/error.h>

#include "support/errors.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace lockstep::internal::launch {
namespace {

using testing::expect_error;

class TokenFile : public ::testing::Test {
 protected:
  std::filesystem::path file(std::string_view content, mode_t mode = 0600) {
    const std::filesystem::path path = folder_.write("token", content);
    ::chmod(path.c_str(), mode);
    return path;
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(TokenFile, NewTokenIsValidAndReadableByItsOwnerOnly) {
  const auto path = folder_.path() / "new";
  write_new_token(path);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(read_token(path).size(), 64u);
  const auto second = folder_.path() / "second";
  write_new_token(second);
  EXPECT_NE(read_token(path), read_token(second));
}

TEST_F(TokenFile, ExistingFileIsNotOverwritten) {
  const auto path = file("do-not-lose-me!!\n");
  expect_error<UsageError>([&] { write_new_token(path); }, {path.string(), "exists already"});
  EXPECT_EQ(read_token(path), "do-not-lose-me!!");
}

TEST_F(TokenFile, UnreadableOrUnwritableFileIsNamed) {
  const auto path = folder_.path() / "no" / "such";
  expect_error<FileError>([&] { read_token(path); },
                          {path.string(), "No such file", "--new-token"});
  expect_error<FileError>([&] { write_new_token(path); }, {path.string(), "No such file"});
  expect_error<UsageError>([&] { read_token(folder_.path()); }, {"is not a plain file"});
}

TEST_F(TokenFile, FileReadableByOthersIsRejected) {
  for (mode_t mode : {0640, 0604, 0620, 0666}) {
    const auto path = file("0123456789abcdef", mode);
    expect_error<UsageError>([&] { read_token(path); }, {"others have access", "chmod 600"});
  }
}

TEST_F(TokenFile, FileWithoutATokenIsRejectedWithoutShowingIt) {
  for (const std::string& content :
       {std::string(), std::string("\n"), std::string("tooshort"),
        std::string("with a space in it"), std::string("0123456789abcdef\0x", 18),
        std::string(5000, 'x')}) {
    const auto path = file(content);
    expect_error<UsageError>([&] { read_token(path); }, {"is invalid", path.string()});
  }
  try {
    read_token(file("tooshort"));
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()).find("tooshort"), std::string::npos);
  }
}

}  // namespace
}  // namespace lockstep::internal::launch
