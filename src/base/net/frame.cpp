#include "base/net/frame.h"

#include "base/check.h"

namespace lockstep::internal {

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
    throw Error(fmt::format("a message of {} bytes exceeds the limit", length));
  if (buffer.size() < 4 + length) return std::nullopt;
  std::string payload = buffer.substr(4, length);
  buffer.erase(0, 4 + length);
  return payload;
}

}  // namespace lockstep::internal
