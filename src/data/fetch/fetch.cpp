#include "data/fetch/fetch.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/folder_lock.h"
#include "data/fetch/http_download.h"
#include "data/fetch/part_file.h"
#include "data/fetch/unpack.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace lockstep::internal::data {

namespace fs = std::filesystem;

namespace {

/// Downloads, unpacks and checks one archive.
class ArchiveFetch {
 public:
  ArchiveFetch(const Archive& archive, const std::string& from, const fs::path& folder,
               FetchObserver& observer)
      : archive_(archive),
        url_(from + (from.ends_with('/') ? "" : "/") + archive.name),
        folder_(folder),
        part_(folder / (archive.name + ".part")),
        observer_(observer) {}

  void run() {
    if (std::all_of(archive_.files.begin(), archive_.files.end(),
                    [&](const PublishedFile& file) { return is_published(file, folder_); }))
      return observer_.kept(archive_);
    // Only a resumed download is tried twice: the source may have changed since it began.
    const bool resumed = download_part();
    if (!unpack_part(resumed)) {
      observer_.starting_over(archive_);
      download_part();
      unpack_part(false);
    }
    observer_.unpacked(archive_);
  }

 private:
  bool download_part() {
    const auto progress = [this](std::uint64_t done, std::uint64_t total) {
      observer_.received(archive_, done, total);
      return observer_.keep_running();
    };
    try {
      return download(
          {.url = url_, .part = part_, .most_bytes = archive_.most_bytes(), .progress = progress});
    } catch (...) {
      std::error_code error;
      if (fs::file_size(part_, error) == 0 && !error) remove_part();
      throw;
    }
  }

  /// Returns false if the archive is damaged, but a new download may be correct.
  bool unpack_part(bool may_fail) {
    try {
      unpack(archive_, part_, folder_, [this] { return observer_.keep_running(); });
    } catch (const WriteError&) {
      throw;  // the download is correct and stays for the next call
    } catch (const FileError& error) {
      remove_part();
      if (may_fail) return false;
      throw FileError(fmt::format(
          "{}: {}: this is not the published file; the download was removed: try again, or name "
          "another source with --from",
          url_, error.what()));
    }
    remove_part();
    return true;
  }

  void remove_part() {
    std::error_code ignored;
    fs::remove(part_, ignored);
  }

  const Archive& archive_;
  const std::string url_;
  const fs::path folder_;
  const fs::path part_;
  FetchObserver& observer_;
};

}  // namespace

fs::path fetch(const FetchOptions& options, FetchObserver& observer) {
  const fs::path folder = options.to / options.set.folder;
  const std::string& from = options.from.empty() ? options.set.home : options.from;
  if (!from.starts_with("http://") && !from.starts_with("https://"))
    throw UsageError(fmt::format(
        "'{}' is not a URL to fetch from: it must begin with http:// or https://", from));
  make_folder(folder);
  // Held while unpacking too: no other fetch may remove the archive meanwhile.
  const FolderLock lock(folder, "another process is fetching to it: wait for it to end");
  for (const Archive& archive : options.set.archives)
    ArchiveFetch(archive, from, folder, observer).run();
  return folder;
}

}  // namespace lockstep::internal::data
