#include "models/checksum.h"

#include <lockstep/error.h>

#include "base/check.h"
#include "base/hash/sha256.h"

#include <fmt/format.h>

namespace lockstep::internal::models {

namespace {

constexpr std::size_t kDigits = 64;

/// The offset of the digest in a file of our writer; npos if it is not found.
std::size_t place_of(std::string_view content, std::string_view digest) {
  const std::string entry = fmt::format("\"{}\":\"{}\"", kChecksum, digest);
  const std::size_t begin = content.find(entry);
  return begin == std::string_view::npos ? begin : begin + entry.size() - 1 - digest.size();
}

/// The digest of the content with zeros in place of the digest at `place`.
std::string digest_of(std::string_view content, std::size_t place) {
  const std::string zeros(kDigits, '0');
  Sha256 sha;
  sha.update(content.data(), place);
  sha.update(zeros.data(), kDigits);
  sha.update(content.data() + place + kDigits, content.size() - place - kDigits);
  return sha.hex();
}

}  // namespace

std::string format_with_checksum(const std::vector<StoredTensor>& tensors, Metadata metadata,
                                 const std::string& source) {
  const std::string zeros(kDigits, '0');
  metadata[std::string(kChecksum)] = zeros;
  std::string content = format_safetensors(tensors, metadata, source);
  const std::size_t place = place_of(content, zeros);
  LOCKSTEP_CHECK(place != std::string::npos, "{} has no place for its checksum", source);
  content.replace(place, kDigits, digest_of(content, place));
  return content;
}

void require_checksum(std::string_view content, const Metadata& metadata,
                      const std::string& source) {
  const auto found = metadata.find(std::string(kChecksum));
  if (found == metadata.end() || found->second.size() != kDigits)
    throw FileError(fmt::format("{}: its checksum is missing; the file is damaged", source));
  const std::size_t place = place_of(content, found->second);
  if (place == std::string_view::npos || digest_of(content, place) != found->second)
    throw FileError(
        fmt::format("{}: its bytes do not match its checksum; the file is damaged", source));
}

}  // namespace lockstep::internal::models
