// Where data sets are published, and how to know that what came is what was published.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::data {

/// A file as it is once it is unpacked: sums do not depend on who compressed it, and how.
struct PublishedFile {
  std::string name;
  std::uint64_t most_bytes = 0;  ///< for the sets we know, its exact size
  std::string sha256;            ///< 64 hexadecimal digits
};

/// What is downloaded in one go.
struct Archive {
  enum class Kind {
    gzip,  ///< of the one file
    tar,   ///< with gzip: has the files in some folder, and others that nobody needs
  };

  std::string name;
  Kind kind = Kind::gzip;
  std::vector<PublishedFile> files;

  /// A limit for its size: compression does not make a file much larger than it was.
  std::uint64_t most_bytes() const;
};

struct PublishedSet {
  std::string name;    ///< as in --data
  std::string home;    ///< the address of the folder that has the archives
  std::string folder;  ///< its usual name
  std::vector<Archive> archives;
};

/// mnist or cifar10. Throws UsageError for another name.
PublishedSet published_set(std::string_view name);

/// The same files with other sums: a smaller set, or another in the same format. `sums` is what
/// sha256sum prints; files that it does not name are left out. Throws FileError for a line that is
/// none, and for names that the set does not have.
PublishedSet with_sums_of(const PublishedSet& set, const std::filesystem::path& sums);

}  // namespace lockstep::data
