// Downloads, checks and unpacks whole data sets. A fetch that was interrupted continues where it
// stopped when it is called again.
#pragma once

#include "data/fetch/published_sets.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace lockstep::internal::data {

struct FetchOptions {
  PublishedSet set;

  /// The set is written to its usual folder below this one.
  std::filesystem::path to;

  /// URL of a folder with the archives; empty for the set's home.
  std::string from;
};

/// Receives progress, on the thread that fetches.
class FetchObserver {
 public:
  virtual ~FetchObserver() = default;

  /// The archive's files exist already and are correct.
  virtual void kept(const Archive& archive) = 0;
  /// Called from time to time: `done` of `total` bytes are here; `total` is 0 if it is not known.
  virtual void received(const Archive& archive, std::uint64_t done, std::uint64_t total) = 0;
  /// The data of an earlier fetch do not match those of this one: the download starts from zero.
  virtual void starting_over(const Archive& archive) = 0;
  /// The archive is unpacked and its files are correct.
  virtual void unpacked(const Archive& archive) = 0;
  /// Called from time to time; returning false ends the fetch with an Error.
  virtual bool keep_running() = 0;
};

/// Returns the set's folder once all its files exist and their SHA-256 sums are correct. Files that
/// differ from the published ones are replaced. Incomplete files are named *.part. Throws Error or
/// FileError with a remedy, for example if another process is fetching to the same folder; see
/// download() and unpack().
std::filesystem::path fetch(const FetchOptions& options, FetchObserver& observer);

}  // namespace lockstep::internal::data
