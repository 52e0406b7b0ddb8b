#include "comm/mesh/peer_hello.h"

#include <lockstep/error.h>

#include "base/text.h"

#include <fmt/format.h>

#include <sys/socket.h>

#include <cerrno>
#include <limits>

namespace lockstep::internal::comm {

namespace {

int number_in(const std::string& word) {
  return static_cast<int>(
      parse_integer(word, "a number in a peer's hello", 0, std::numeric_limits<int>::max()));
}

}  // namespace

std::string PeerHello::encode() const {
  return fmt::format("{:<{}}", fmt::format("{} {} ", rank, channel), kBytes);
}

PeerHello PeerHello::decode(const std::string& bytes) {
  const std::vector<std::string> words = split(bytes, ' ');
  if (bytes.size() != kBytes || words.size() < 2)
    throw Error("a rank of this run uses another version of the protocol");
  return {number_in(words[0]), number_in(words[1])};
}

HelloProgress receive_hello(AuthenticatedConnection& connection, PeerHello& hello) {
  std::string& received = connection.received;
  if (received.size() < PeerHello::kBytes) {
    char block[PeerHello::kBytes];
    const ssize_t got =
        ::recv(connection.socket.get(), block, sizeof block - received.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return HelloProgress::incomplete;
    if (got <= 0) return HelloProgress::connection_ended;
    received.append(block, static_cast<std::size_t>(got));
  }
  if (received.size() < PeerHello::kBytes) return HelloProgress::incomplete;
  hello = PeerHello::decode(received.substr(0, PeerHello::kBytes));
  received.erase(0, PeerHello::kBytes);
  return HelloProgress::whole;
}

}  // namespace lockstep::internal::comm
