// A safetensors file with a checksum of itself: its metadata have the SHA-256 of the whole file,
// header and length included, with the digest's 64 digits replaced by zeros. It detects every
// flipped bit, and other programs read the file as usual.
#pragma once

#include "models/safetensors.h"

namespace lockstep::internal::models {

/// The checksum's key in the metadata.
inline constexpr std::string_view kChecksum = "sha256";

/// Like format_safetensors, with the checksum among the metadata.
std::string format_with_checksum(const std::vector<StoredTensor>& tensors, Metadata metadata,
                                 const std::string& source);

/// Throws FileError that names `source` unless the bytes have a correct checksum. `metadata` are
/// those that parse_safetensors found in them.
void require_checksum(std::string_view content, const Metadata& metadata,
                      const std::string& source);

}  // namespace lockstep::internal::models
