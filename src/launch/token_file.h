// The run's token in a file: how launchers on several hosts come to know the same one. It travels
// in files and variables, never in a process's arguments, which any user of the host can list.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep::launch {

/// Makes a new token and writes it to a new file that only its owner can read. Throws UsageError if
/// the file is there already, FileError if it cannot be written.
void write_new_token(const std::filesystem::path& path);

/// Throws UsageError for a file that others can read or that holds no token, FileError for one that
/// cannot be read.
std::string read_token(const std::filesystem::path& path);

/// Throws UsageError, which names `what`, for a token that is too short to keep anyone out or has
/// characters that a variable would not carry unchanged. Does not show the token.
void require_good_token(const std::string& token, const std::string& what);

}  // namespace lockstep::launch
