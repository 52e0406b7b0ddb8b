// Frames separate the messages on a TCP connection. A frame is a 32-bit little-endian length and
// that many bytes. Bytes from the network are not trusted: a frame longer than the limit is an
// error, not an allocation.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::internal {

constexpr std::size_t kMaxFrame = 64 * 1024;

/// REQUIRES: payload.size() <= kMaxFrame.
std::string make_frame(std::string_view payload);

/// Takes the first complete frame off the front of `buffer`, if there is one. Throws Error if the
/// buffer cannot become a frame.
std::optional<std::string> take_frame(std::string& buffer);

}  // namespace lockstep::internal
