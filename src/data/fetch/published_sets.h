// The sources of published data sets, and the checksums of their files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::data {

/// An unpacked file: its sum does not depend on the compression.
struct PublishedFile {
  std::string name;
  std::uint64_t most_bytes = 0;  ///< the exact size for known sets
  std::string sha256;            ///< 64 hexadecimal digits
};

/// One downloaded file.
struct Archive {
  enum class Kind {
    gzip,  ///< of one file
    tar,   ///< with gzip: has the files in some folder, among others that are not needed
  };

  std::string name;
  Kind kind = Kind::gzip;
  std::vector<PublishedFile> files;

  /// An upper limit of its size: compression enlarges no file by much.
  std::uint64_t most_bytes() const;
};

struct PublishedSet {
  std::string name;    ///< as in --data
  std::string home;    ///< URL of the folder with the archives
  std::string folder;  ///< usual name of its folder
  std::vector<Archive> archives;
};

/// mnist or cifar10. Throws UsageError for another name.
PublishedSet published_set(std::string_view name);

/// The same files with other sums: a smaller set, or another in the same format. `sums` is a file
/// printed by sha256sum; files that it does not name are left out. Throws FileError for a malformed
/// line, and for files that the set does not have.
PublishedSet with_sums_of(const PublishedSet& set, const std::filesystem::path& sums);

}  // namespace lockstep::internal::data
