// A safetensors file that says what its bytes must be: its metadata have the SHA-256 of the whole
// file, header and length included, with the digest's own 64 digits read as zeros. A flipped bit
// anywhere shows; other programs read the file as any other.
#pragma once

#include "models/safetensors.h"

namespace lockstep::models {

/// Its name in the metadata.
inline constexpr std::string_view kChecksum = "sha256";

/// What format_safetensors makes, with the checksum among the metadata.
std::string format_with_checksum(const std::vector<StoredTensor>& tensors, Metadata metadata,
                                 const std::string& source);

/// Throws FileError that names `source` unless the bytes have a checksum and it is right.
/// `metadata` are those that parse_safetensors found in them.
void require_checksum(std::string_view content, const Metadata& metadata,
                      const std::string& source);

}  // namespace lockstep::models
