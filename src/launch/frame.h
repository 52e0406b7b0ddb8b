// The store's wire format: a frame is a 32-bit little-endian length and as many bytes. What comes
// from the network is not trusted: a frame longer than kMaxFrame is an error, not an allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::launch {

constexpr std::size_t kMaxFrame = 64 * 1024;

/// REQUIRES: payload.size() <= kMaxFrame.
std::string make_frame(std::string_view payload);

/// Takes the first whole frame off the front of `buffer`, if one is there. Throws Error if what is
/// there cannot become a frame.
std::optional<std::string> take_frame(std::string& buffer);

/// What a rank asks of the store.
struct StoreRequest {
  enum class Kind : std::uint8_t { set = 1, get = 2 };
  Kind kind = Kind::get;
  std::string key;
  std::string value;  ///< of set

  std::string encode() const;
  /// Throws Error if the bytes are not a request.
  static StoreRequest decode(std::string_view payload);
};

/// The first byte of every answer; a get's value follows.
enum class StoreStatus : std::uint8_t { ok = 1, already_set = 2 };

}  // namespace lockstep::launch
