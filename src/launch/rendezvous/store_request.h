// The requests to the store and its answers, as sent in frames (base/net/frame.h).
#pragma once

#include "base/net/frame.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::internal::launch {

constexpr std::size_t kMaxKey = 1024;
constexpr std::size_t kMaxValue = 60 * 1024;
constexpr int kMaxRank = (1 << 16) - 1;

/// A request of a rank or of another host's launcher.
struct StoreRequest {
  enum class Kind : std::uint8_t {
    set = 1,     ///< answered at once
    get = 2,     ///< waits for the key, or for the end of its owner
    ending = 3,  ///< waits for the end of the rank
    report = 4,  ///< the rank ended as the value says; answered at once
    ended = 5,   ///< like ending, but answered at once
    look = 6,    ///< like get, but answered at once
    /// The rank is lost if this connection ends before its end was reported; answered at once.
    lost_on_disconnect = 7,
    claim = 8,  ///< like set, but another may set the same value once this connection has ended
  };
  Kind kind = Kind::get;
  std::string key;    ///< for set, claim, get and look
  std::string value;  ///< for set, claim and report
  int rank = -1;      ///< get: the key's owner, or −1; else the rank in question

  std::string encode() const;
  /// Throws Error if the bytes are not a request.
  static StoreRequest decode(std::string_view payload);
};

/// The first byte of every answer.
enum class StoreStatus : std::uint8_t {
  ok = 1,  ///< followed by get's value, how a rank ended, or whether a claim was taken over
  already_set = 2,  ///< followed by the key's value
  owner_ended = 3,  ///< the key is not set; followed by how its owner ended
  full = 4,         ///< the store has reached its size limit
  not_yet = 5,      ///< the rank has not ended as far as is known; the key is not set
};

}  // namespace lockstep::internal::launch
