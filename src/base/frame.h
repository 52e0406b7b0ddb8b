// Frames: how messages are told apart on a TCP connection. A frame is a 32-bit little-endian length
// and as many bytes. What comes from the network is not trusted: a frame longer than the limit is
// an error, not an allocation.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

constexpr std::size_t kMaxFrame = 64 * 1024;

/// REQUIRES: payload.size() <= kMaxFrame.
std::string make_frame(std::string_view payload);

/// Takes the first whole frame off the front of `buffer`, if one is there. Throws Error if what is
/// there cannot become a frame.
std::optional<std::string> take_frame(std::string& buffer);

}  // namespace lockstep
