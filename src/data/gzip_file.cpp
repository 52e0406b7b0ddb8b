#include "data/gzip_file.h"

#include <lockstep/error.h>

#include "base/files.h"

#include <fmt/format.h>

#include <zlib.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace lockstep::internal::data {

namespace {

// gzread counts in int. A smaller step costs nothing and keeps every count far below the limit.
constexpr std::size_t kMostAtOnce = 1 << 24;

// zlib's buffer for compressed bytes. Its default of 8 KiB makes a system call every few images.
constexpr unsigned kBufferBytes = 1 << 17;

// zlib writes "<fd:7>: reason"; our messages have the file's path instead.
std::string_view without_name(std::string_view text) {
  const std::size_t end = text.find(">: ");
  return end == std::string_view::npos ? text : text.substr(end + 3);
}

}  // namespace

void GzipFile::Close::operator()(gzFile_s* file) const {
  gzclose_r(file);
}

GzipFile::GzipFile(const std::filesystem::path& path)
    : path_(path), file_(gzdopen(open_file(path, O_RDONLY).release(), "rb")) {
  if (!file_)
    throw FileError(fmt::format("{}: cannot open: {}", path.string(), last_system_error()));
  gzbuffer(file_.get(), kBufferBytes);
}

std::size_t GzipFile::read(std::span<std::uint8_t> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::size_t asked = std::min(out.size() - done, kMostAtOnce);
    const int got = gzread(file_.get(), out.data() + done, static_cast<unsigned>(asked));
    const std::size_t bytes = got > 0 ? static_cast<std::size_t>(got) : 0;
    done += bytes;
    offset_ += bytes;
    if (bytes < asked) {
      throw_if_damaged();
      break;
    }
  }
  return done;
}

void GzipFile::fail(std::uint64_t offset, std::string_view expected, std::string_view found,
                    std::string_view right_file) const {
  throw FileError(
      fmt::format("{}: at offset {} expected {}, found {}: check that this is {}, or get it again",
                  path_.string(), offset, expected, found, right_file));
}

void GzipFile::throw_if_damaged() const {
  int code = Z_OK;
  const std::string_view text = gzerror(file_.get(), &code);
  if (code == Z_OK || code == Z_STREAM_END) return;
  const std::string path = path_.string();
  const std::string_view reason = without_name(text);
  if (code == Z_ERRNO)
    throw FileError(fmt::format("{}: cannot read at offset {}: {}", path, offset_, reason));
  throw FileError(
      fmt::format("{}: after offset {} of the decompressed content expected valid gzip data, found "
                  "'{}': the file is damaged, get it again",
                  path, offset_, reason));
}

}  // namespace lockstep::internal::data
