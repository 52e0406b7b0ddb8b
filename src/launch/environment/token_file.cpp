#include "launch/environment/token_file.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/net/handshake.h"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace lockstep::internal::launch {

namespace {

constexpr std::size_t kShortest = 16;
constexpr std::size_t kLongest = 1024;

}  // namespace

void write_new_token(const std::filesystem::path& path) {
  const UniqueFd file = open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!file && errno == EEXIST)
    throw UsageError(fmt::format("{} exists already: use it, or remove it first", path.string()));
  const std::string text = make_token() + "\n";
  if (!file || ::fchmod(file.get(), 0600) != 0 ||
      ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw FileError(
        fmt::format("cannot write a token to {}: {}", path.string(), last_system_error()));
}

std::string read_token(const std::filesystem::path& path) {
  // A pipe instead of a file would block until a process writes to it.
  const UniqueFd file = open_file(path, O_RDONLY | O_NONBLOCK);
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0)
    throw FileError(
        fmt::format("cannot read the token file {}: {}. lockstep launch --new-token {} "
                    "makes one",
                    path.string(), last_system_error(), path.string()));
  if (!S_ISREG(status.st_mode))
    throw UsageError(fmt::format("the token file {} is not a plain file", path.string()));
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw UsageError(
        fmt::format("others have access to the token file {} (mode {:o}): if no "
                    "other user has read it, run chmod 600 on it, else make a new token",
                    path.string(), status.st_mode & 0777u));
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    throw UsageError(fmt::format("the token file {} belongs to another user", path.string()));
  std::string token(kLongest + 2, '\0');
  const ssize_t got = ::read(file.get(), token.data(), token.size());
  if (got < 0)
    throw FileError(
        fmt::format("cannot read the token file {}: {}", path.string(), last_system_error()));
  token.resize(static_cast<std::size_t>(got));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  require_good_token(token, fmt::format("the token in {}", path.string()));
  return token;
}

void require_good_token(const std::string& token, const std::string& what) {
  const bool plain =
      std::all_of(token.begin(), token.end(), [](unsigned char c) { return c > ' ' && c < 127; });
  if (token.size() < kShortest || token.size() > kLongest || !plain)
    throw UsageError(fmt::format(
        "{} is invalid: it must be {} to {} printable characters without spaces; lockstep launch "
        "--new-token FILE makes one",
        what, kShortest, kLongest));
}

}  // namespace lockstep::internal::launch
