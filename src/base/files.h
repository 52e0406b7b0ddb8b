// Whole files, read with a limit and written so that a reader never sees half of one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace lockstep {

/// "Permission denied" and the like, for the errno of a call that just failed.
std::string last_system_error();

/// The whole file. Throws FileError if it cannot be read or is longer than `limit` bytes.
std::string read_file(const std::filesystem::path& path, std::uint64_t limit = 1ull << 32);

/// Replaces the file at `path` as a whole: readers see the old content or the new, whatever happens
/// to this process or the machine meanwhile, and the new one has reached the disk on return. On
/// failure (a full disk, a read-only folder) throws FileError and leaves the old file as it was.
void write_file(const std::filesystem::path& path, std::string_view content);

/// Makes the folder and its parents, and checks that files can be made in it; throws FileError.
void make_folder(const std::filesystem::path& path);

/// Checks, before any work is spent on it, that a file can be made at `path`: its folder is there
/// and can be written. Throws FileError.
void require_writable(const std::filesystem::path& path);

}  // namespace lockstep
