// From an archive to the files in it, each checked before it gets its name.
#pragma once

#include "data/published_sets.h"

#include <filesystem>
#include <functional>

namespace lockstep::data {

/// Unpacks the archive at `path` into `folder`, which is there. A file appears under its name only
/// when all of it was written and its SHA-256 is the published one. Throws FileError, with the
/// archive's path, if it is damaged, lacks a file, or holds one that is too long or not the
/// published one; WriteError (part_file.h) if the disk fails. `go_on` is asked now and then, and
/// Error is thrown if it says no.
void unpack(const Archive& archive, const std::filesystem::path& path,
            const std::filesystem::path& folder, const std::function<bool()>& go_on);

/// Whether the file in `folder` is the published one. Throws nothing: what cannot be read is not.
bool is_published(const PublishedFile& file, const std::filesystem::path& folder);

}  // namespace lockstep::data
