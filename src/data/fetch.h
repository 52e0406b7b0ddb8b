// Whole data sets from the web: downloaded, checked and unpacked. A fetch that was stopped, by
// whatever, goes on where it was when it is asked for again.
#pragma once

#include "data/published_sets.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace lockstep::data {

struct FetchOptions {
  PublishedSet set;

  /// The set gets its usual folder below this one.
  std::filesystem::path to;

  /// The address of a folder with the archives; empty for the set's home.
  std::string from;
};

/// Told what happens, on the thread that fetches.
class FetchObserver {
 public:
  virtual ~FetchObserver() = default;

  /// `archive`'s files are there already, and right.
  virtual void kept(const Archive& archive) = 0;
  /// Called now and then: so many bytes are there of those there will be, 0 if nobody knows.
  virtual void received(const Archive& archive, std::uint64_t done, std::uint64_t total) = 0;
  /// What had come in an earlier fetch does not go with what came now: it begins anew.
  virtual void starting_over(const Archive& archive) = 0;
  /// `archive` is unpacked, and its files are right.
  virtual void unpacked(const Archive& archive) = 0;
  /// Asked now and then; false ends the fetch with an Error.
  virtual bool go_on() = 0;
};

/// Returns the set's folder once all its files are there and their SHA-256 sums are right. Files
/// that are not the published ones are replaced. What is not whole yet is named *.part. Throws
/// Error or FileError that says what to do, as when another process is fetching to the same folder;
/// see download() and unpack().
std::filesystem::path fetch(const FetchOptions& options, FetchObserver& observer);

}  // namespace lockstep::data
