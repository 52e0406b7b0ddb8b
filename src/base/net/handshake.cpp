#include "base/net/handshake.h"

#include "base/check.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace lockstep::internal {

namespace {

constexpr std::string_view kMagic = "LOCKSTP1";
constexpr std::string_view kNoRoom = "LOCKSTP0";
constexpr std::size_t kNonce = 32;
constexpr std::size_t kProof = 32;
constexpr char kGood = 1;
constexpr char kBad = 2;

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got = ::getrandom(bytes.data() + done, count - done, 0);
    LOCKSTEP_CHECK(got > 0 || errno == EINTR, "cannot get random bytes from the kernel");
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  return bytes;
}

void append_part(std::string& input, std::string_view part) {
  for (int shift = 0; shift < 32; shift += 8)
    input.push_back(static_cast<char>(part.size() >> shift & 0xff));
  input.append(part);
}

std::string hmac_sha256(const std::string& key, const std::string& input) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  const unsigned char* done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(input.data()), input.size(), digest, &length);
  LOCKSTEP_CHECK(done != nullptr && length == kProof, "OpenSSL could not make an HMAC");
  return std::string(reinterpret_cast<const char*>(digest), length);
}

/// Compares in constant time, so that the duration reveals nothing about the proof.
bool same_proof(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

Handshake::Handshake(Side side, std::string token, std::string purpose)
    : side_(side),
      token_(std::move(token)),
      purpose_(std::move(purpose)),
      mine_(random_bytes(kNonce)) {
  if (side_ == Side::server) outgoing_.append(kMagic).append(mine_);
}

void Handshake::feed(std::string& received) {
  if (state_ != State::in_progress) return;
  if (side_ == Side::server) return feed_server(received);
  feed_client(received);
}

std::string Handshake::no_room() {
  return std::string(kNoRoom);
}

std::string Handshake::to_send() {
  return std::exchange(outgoing_, {});
}

/// Takes the magic and `bytes` more, once all have arrived. Wrong bytes are detected as they
/// arrive.
bool Handshake::take_magic_and(std::string& received, std::size_t bytes, std::string& taken) {
  const std::size_t known = std::min(received.size(), kMagic.size());
  if (received.compare(0, known, kMagic, 0, known) != 0) {
    state_ = State::wrong_protocol;
    return false;
  }
  if (received.size() < kMagic.size() + bytes) return false;
  taken = received.substr(kMagic.size(), bytes);
  received.erase(0, kMagic.size() + bytes);
  return true;
}

void Handshake::feed_server(std::string& received) {
  std::string taken;
  if (!take_magic_and(received, kNonce + kProof, taken)) return;
  theirs_ = taken.substr(0, kNonce);
  if (!same_proof(taken.substr(kNonce), proof("client"))) {
    // An end without the token gets no proof from this one.
    outgoing_.push_back(kBad);
    state_ = State::wrong_token;
    return;
  }
  outgoing_.append(1, kGood).append(proof("server"));
  state_ = State::authenticated;
}

void Handshake::feed_client(std::string& received) {
  if (!theirs_.empty()) return take_verdict(received);
  if (received == kNoRoom) {
    state_ = State::no_room;
    return;
  }
  if (!take_magic_and(received, kNonce, theirs_)) return;
  outgoing_.append(kMagic).append(mine_).append(proof("client"));
  take_verdict(received);
}

void Handshake::take_verdict(std::string& received) {
  if (received.empty()) return;
  if (received[0] == kBad) {
    received.erase(0, 1);
    state_ = State::refused;
  } else if (received[0] != kGood) {
    state_ = State::wrong_protocol;
  } else if (received.size() >= 1 + kProof) {
    const bool same = same_proof(received.substr(1, kProof), proof("server"));
    received.erase(0, 1 + kProof);
    state_ = same ? State::authenticated : State::wrong_token;
  }
}

std::string Handshake::proof(std::string_view side) const {
  const bool server = side_ == Side::server;
  std::string input;
  append_part(input, side);
  append_part(input, purpose_);
  append_part(input, server ? mine_ : theirs_);
  append_part(input, server ? theirs_ : mine_);
  return hmac_sha256(token_, input);
}

std::string make_token() {
  std::string digits;
  for (char byte : random_bytes(32))
    digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

}  // namespace lockstep::internal
