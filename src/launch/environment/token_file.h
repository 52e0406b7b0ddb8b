// The run's token in a file, which lets launchers on several hosts share one. The token is passed
// in files and variables, never in a process's arguments, which any user of the host can list.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep::internal::launch {

/// Makes a new token and writes it to a new file that only its owner can read. Throws UsageError if
/// the file exists already, FileError if it cannot be written.
void write_new_token(const std::filesystem::path& path);

/// Throws UsageError for a file that other users can read or that has no token, FileError for a
/// file that cannot be read.
std::string read_token(const std::filesystem::path& path);

/// Throws UsageError, which names `what`, for a token that is too short to be secure or has
/// characters that an environment variable may not carry unchanged. Does not show the token.
void require_good_token(const std::string& token, const std::string& what);

}  // namespace lockstep::internal::launch
