#include "launch/rendezvous/store_request.h"

#include <lockstep/error.h>

namespace lockstep::internal::launch {

namespace {

constexpr std::size_t kHeader = 7;  ///< kind, rank and the key's length

void put(std::string& payload, std::uint32_t number, int bytes) {
  for (int shift = 0; shift < 8 * bytes; shift += 8)
    payload.push_back(static_cast<char>(number >> shift & 0xff));
}

std::uint32_t take(std::string_view& payload, std::size_t bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    number |= static_cast<std::uint32_t>(static_cast<unsigned char>(payload[i])) << (8 * i);
  payload.remove_prefix(bytes);
  return number;
}

bool makes_sense(const StoreRequest& request) {
  using Kind = StoreRequest::Kind;
  const bool of_key = request.kind == Kind::set || request.kind == Kind::get ||
                      request.kind == Kind::look || request.kind == Kind::claim;
  const int lowest = of_key ? -1 : 0;
  return request.key.size() <= kMaxKey && request.value.size() <= kMaxValue &&
         request.rank >= lowest && request.rank <= kMaxRank;
}

}  // namespace

std::string StoreRequest::encode() const {
  std::string payload;
  put(payload, static_cast<std::uint32_t>(kind), 1);
  put(payload, static_cast<std::uint32_t>(rank), 4);
  put(payload, static_cast<std::uint32_t>(key.size()), 2);
  return payload.append(key).append(value);
}

StoreRequest StoreRequest::decode(std::string_view payload) {
  if (payload.size() < kHeader) throw Error("a request to the store that is too short");
  const std::uint32_t kind = take(payload, 1);
  const auto rank = static_cast<std::int32_t>(take(payload, 4));
  const std::size_t key_length = take(payload, 2);
  if (kind < 1 || kind > 8 || key_length > payload.size())
    throw Error("an invalid request to the store");
  StoreRequest request{static_cast<Kind>(kind), std::string(payload.substr(0, key_length)),
                       std::string(payload.substr(key_length)), rank};
  if (!makes_sense(request)) throw Error("a request to the store beyond its limits");
  return request;
}

}  // namespace lockstep::internal::launch
