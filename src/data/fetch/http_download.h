// Downloads one file. Only this header's source uses libcurl.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace lockstep::internal::data {

struct DownloadOptions {
  /// http:// or https://.
  std::string url;

  /// The file to append to. Its present content is taken for the beginning of the download, and
  /// only the rest is requested. If the server cannot send a part, the file is written from the
  /// beginning.
  std::filesystem::path part;

  /// A download of more bytes is refused before they are written.
  std::uint64_t most_bytes = 0;

  /// Called from time to time, on the thread that called download(), with the bytes received and
  /// the total, which is 0 if it is not known. Returning false ends the download.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
};

/// Returns once the whole file is on the disk; true if a part of it was there before. Reconnects a
/// few times when a connection breaks. Throws Error with the URL and a remedy if the host is
/// unknown or does not answer, the server refuses, the connection is lost, or progress() returned
/// false; FileError if the part cannot be written or another process is writing it. The received
/// bytes stay in the part for the next call. Thread safety: one thread of the process at a time,
/// because SIGPIPE is ignored meanwhile.
bool download(const DownloadOptions& options);

}  // namespace lockstep::internal::data
