// What ranks ask of the store, and its answers, as they travel in frames (base/frame.h).
#pragma once

#include "base/frame.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::launch {

constexpr std::size_t kMaxKey = 1024;
constexpr std::size_t kMaxValue = 60 * 1024;
constexpr int kMaxRank = (1 << 16) - 1;

/// What a rank, or another host's launcher, asks of the store.
struct StoreRequest {
  enum class Kind : std::uint8_t {
    set = 1,     ///< answered at once
    get = 2,     ///< waits for the key, or for the end of the rank that owns it
    ending = 3,  ///< waits for the end of the rank
    report = 4,  ///< the rank ended as the value says; answered at once
    ended = 5,   ///< like ending, but answered at once
    look = 6,    ///< like get, but answered at once
    vouch = 7,   ///< the rank is lost if this connection ends before its end was told; likewise
    claim = 8,   ///< like set, but another may set the same value once this connection has ended
  };
  Kind kind = Kind::get;
  std::string key;    ///< of set, claim, get and look
  std::string value;  ///< of set, claim and report
  int rank = -1;      ///< get: the key's owner, or −1; else the rank that is meant

  std::string encode() const;
  /// Throws Error if the bytes are not a request.
  static StoreRequest decode(std::string_view payload);
};

/// The first byte of every answer.
enum class StoreStatus : std::uint8_t {
  ok = 1,           ///< get's value, how a rank ended, or what a claim has taken over follows
  already_set = 2,  ///< what the key is set to follows
  owner_ended = 3,  ///< the key is not set, and how its owner ended follows
  full = 4,         ///< the store keeps no more
  not_yet = 5,      ///< the rank has not ended, as far as is known; nobody has set the key
};

}  // namespace lockstep::launch
