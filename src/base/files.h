// Opening files, reading whole ones with a size limit, and writing them atomically.
#pragma once

#include "base/unique_fd.h"

#include <fcntl.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace lockstep::internal {

/// The message for the errno of a call that just failed, such as "Permission denied".
std::string last_system_error();

/// Opens a file with these flags of ::open, and O_CLOEXEC. The result is invalid, with errno, if
/// that fails.
UniqueFd open_file(const std::filesystem::path& path, int flags, mode_t mode = 0644);

/// Makes the descriptor one of /dev/null, if it can be opened. May be called between fork and exec.
void redirect_to_null(int fd);

/// Appends the next bytes of a file to `content`, at most `most`. Returns their number: 0 at the
/// end, negative, with errno, if it cannot be read.
ssize_t read_more(int fd, std::string& content, std::size_t most);

/// Writes to a descriptor and removes from `content` what was written. Returns whether that was
/// everything; if not, errno has the reason.
bool write_from(int fd, std::string_view& content);

/// Writes everything. Throws FileError, which names `path`.
void write_all(int fd, std::string_view content, const std::filesystem::path& path);

/// The content of a file such as those below /proc and /sys; empty if it cannot be read.
std::string read_system_file(const std::filesystem::path& path);

/// Seconds since the file was last changed; 0 if that is not known.
double seconds_since_change(const std::filesystem::path& path);

/// The whole file. Throws FileError if it cannot be read or is longer than `limit` bytes.
std::string read_file(const std::filesystem::path& path, std::uint64_t limit = 1ull << 32);

/// Replaces the file at `path` atomically: readers see the old content or the new, even if this
/// process or the machine fails, and the new content is on disk on return. On failure (a full disk,
/// a read-only folder) throws FileError and keeps the old file.
void write_file(const std::filesystem::path& path, std::string_view content);

/// Makes the folder and its parents, and checks that files can be created in it. Throws FileError.
void make_folder(const std::filesystem::path& path);

/// Checks, before expensive work, that a file can be created at `path`: its folder exists and is
/// writable. Throws FileError.
void require_writable(const std::filesystem::path& path);

}  // namespace lockstep::internal
