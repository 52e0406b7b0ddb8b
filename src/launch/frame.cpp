#include "launch/frame.h"

#include "base/check.h"

namespace lockstep::launch {

std::string make_frame(std::string_view payload) {
  LOCKSTEP_CHECK(payload.size() <= kMaxFrame, "a frame of {} bytes", payload.size());
  std::string frame;
  for (int shift = 0; shift < 32; shift += 8)
    frame.push_back(static_cast<char>(payload.size() >> shift & 0xff));
  return frame.append(payload);
}

std::optional<std::string> take_frame(std::string& buffer) {
  if (buffer.size() < 4) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(buffer[i])) << (8 * i);
  if (length > kMaxFrame)
    throw Error(fmt::format("a message of {} bytes: longer than any of the store's", length));
  if (buffer.size() < 4 + length) return std::nullopt;
  std::string payload = buffer.substr(4, length);
  buffer.erase(0, 4 + length);
  return payload;
}

std::string StoreRequest::encode() const {
  std::string payload;
  payload.push_back(static_cast<char>(kind));
  payload.push_back(static_cast<char>(key.size() & 0xff));
  payload.push_back(static_cast<char>(key.size() >> 8));
  return payload.append(key).append(value);
}

StoreRequest StoreRequest::decode(std::string_view payload) {
  if (payload.size() < 3) throw Error("a request to the store that is too short");
  const auto kind = static_cast<unsigned char>(payload[0]);
  const std::size_t key_length = static_cast<unsigned char>(payload[1]) |
                                 static_cast<std::size_t>(static_cast<unsigned char>(payload[2]))
                                     << 8;
  payload.remove_prefix(3);
  if (kind < 1 || kind > 2 || key_length > payload.size())
    throw Error("a request to the store that makes no sense");
  return {static_cast<Kind>(kind), std::string(payload.substr(0, key_length)),
          std::string(payload.substr(key_length))};
}

}  // namespace lockstep::launch
