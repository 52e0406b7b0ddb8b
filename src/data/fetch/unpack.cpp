#include "data/fetch/unpack.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/hash/sha256.h"
#include "data/fetch/part_file.h"
#include "data/fetch/tar_file.h"
#include "data/gzip_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <system_error>

namespace lockstep::internal::data {

namespace fs = std::filesystem;

namespace {

using Buffer = std::vector<std::uint8_t>;
constexpr std::size_t kBufferBytes = 1 << 18;

/// Fills a buffer with a file's next bytes; fewer than requested only at the end.
using Source = std::function<std::size_t(std::span<std::uint8_t>)>;

[[noreturn]] void refuse(const fs::path& archive, const PublishedFile& file,
                         std::string_view what) {
  throw FileError(fmt::format("{}: {}: {}", archive.string(), file.name, what));
}

/// Copies one file of the archive to a *.part file.
void copy(const PublishedFile& file, const fs::path& archive, const Source& source, PartFile& out,
          const std::function<bool()>& keep_running) {
  Buffer buffer(kBufferBytes);
  Sha256 sha;
  for (std::size_t got = buffer.size(); got == buffer.size();) {
    got = source(buffer);
    if (!keep_running()) throw Error("interrupted: run the same command again");
    if (out.bytes() + got > file.most_bytes)
      refuse(archive, file, fmt::format("expected at most {} bytes, found more", file.most_bytes));
    sha.update(buffer.data(), got);
    out.append({reinterpret_cast<const char*>(buffer.data()), got});
  }
  const std::string found = sha.hex();
  if (found != file.sha256)
    refuse(archive, file, fmt::format("expected SHA-256 {}, found {}", file.sha256, found));
}

void unpack_file(const PublishedFile& file, const fs::path& archive, const Source& source,
                 const fs::path& folder, const std::function<bool()>& keep_running) {
  const fs::path part = folder / (file.name + ".part");
  PartFile out(part);
  try {
    out.clear();
    copy(file, archive, source, out, keep_running);
    out.finish(folder / file.name);
  } catch (...) {
    std::error_code ignored;
    fs::remove(part, ignored);
    throw;
  }
}

void unpack_tar(const Archive& archive, const fs::path& path, const fs::path& folder,
                const std::function<bool()>& keep_running) {
  TarFile tar(path);
  std::vector<PublishedFile> missing = archive.files;
  while (!missing.empty()) {
    const std::optional<TarHeader> member = tar.next();
    if (!member) refuse(path, missing.front(), "expected this file, found the archive's end");
    if (!keep_running()) throw Error("interrupted: run the same command again");
    // The folder in the archive is ignored: only files with known names are written.
    const std::string name = fs::path(member->name).filename().string();
    const auto file = std::find_if(missing.begin(), missing.end(),
                                   [&](const PublishedFile& one) { return one.name == name; });
    if (file == missing.end()) continue;
    unpack_file(
        *file, path, [&](std::span<std::uint8_t> out) { return tar.read(out); }, folder,
        keep_running);
    missing.erase(file);
  }
}

}  // namespace

void unpack(const Archive& archive, const fs::path& path, const fs::path& folder,
            const std::function<bool()>& keep_running) {
  if (archive.kind == Archive::Kind::tar) return unpack_tar(archive, path, folder, keep_running);
  GzipFile gzip(path);
  unpack_file(
      archive.files.front(), path, [&](std::span<std::uint8_t> out) { return gzip.read(out); },
      folder, keep_running);
}

bool is_published(const PublishedFile& file, const fs::path& folder) {
  const UniqueFd in = open_file(folder / file.name, O_RDONLY);
  Buffer buffer(kBufferBytes);
  Sha256 sha;
  std::uint64_t bytes = 0;
  ssize_t got = 0;
  while (in && (got = ::read(in.get(), buffer.data(), buffer.size())) > 0) {
    sha.update(buffer.data(), static_cast<std::size_t>(got));
    bytes += static_cast<std::size_t>(got);
    if (bytes > file.most_bytes) return false;
  }
  return in && got == 0 && sha.hex() == file.sha256;
}

}  // namespace lockstep::internal::data
