// Unpacks an archive. Each file is checked before it gets its name.
#pragma once

#include "data/fetch/published_sets.h"

#include <filesystem>
#include <functional>

namespace lockstep::internal::data {

/// Unpacks the archive at `path` into the existing `folder`. A file appears under its name only
/// when it is complete and has the published SHA-256. Throws FileError with the archive's path if
/// it is damaged, lacks a file, or holds one that is too long or differs from the published one;
/// WriteError (part_file.h) if the disk fails. Calls `keep_running` from time to time, and throws
/// Error when it returns false.
void unpack(const Archive& archive, const std::filesystem::path& path,
            const std::filesystem::path& folder, const std::function<bool()>& keep_running);

/// Whether the file in `folder` is the published one; false if it cannot be read. Never throws.
bool is_published(const PublishedFile& file, const std::filesystem::path& folder);

}  // namespace lockstep::internal::data
