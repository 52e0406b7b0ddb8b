// Reading whole files with a size limit, and writing them atomically.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace lockstep::internal {

/// The message for the errno of a call that just failed, such as "Permission denied".
std::string last_system_error();

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
