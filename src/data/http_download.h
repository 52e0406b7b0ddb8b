// One file from the web to the disk. The only file that knows libcurl is this header's source.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace lockstep::data {

struct DownloadOptions {
  /// http:// or https://.
  std::string url;

  /// Where the bytes go as they come. What is there already is taken for the file's beginning: only
  /// the rest is asked for. A server that cannot do that sends all, and all is written anew.
  std::filesystem::path part;

  /// More than so many bytes are refused, before they are written.
  std::uint64_t most_bytes = 0;

  /// Called now and then with the bytes that are there and those there will be, 0 if nobody knows;
  /// false ends the download. From the thread that called download().
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
};

/// Returns once the whole file is there; true if a part of it was there before. A connection that
/// breaks while bytes come is made again, a few times. Throws Error that names the address and what
/// to do: no such host, nobody answers, the server refuses, the connection is lost, or progress()
/// said stop; FileError where the part cannot be written or another process is writing it. What
/// came until then stays in the part, for the next call. For one thread of the process at a time:
/// SIGPIPE is ignored meanwhile.
bool download(const DownloadOptions& options);

}  // namespace lockstep::data
