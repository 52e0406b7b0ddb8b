// A new connection as read by a rank, over a socket: the handshake, the hello and the control
// messages behind it. The input decides how its bytes are cut: they arrive one by one, or several
// steps at once.
#include <lockstep/error.h>

#include "base/net/frame.h"
#include "base/net/handshake.h"
#include "comm/mesh/control_link.h"
#include "comm/mesh/peer_hello.h"
#include "fuzz.h"

#include <sys/socket.h>

namespace lockstep::internal::fuzz {

using namespace comm;

namespace {

/// The data that a rank has read, and the data it was sent.
struct Seen {
  std::optional<PeerHello> hello;
  std::string messages;  ///< in encoded form
  bool ended = false;
};

/// The rank's end of a connection.
class Reader {
 public:
  explicit Reader(UniqueFd socket, std::string ahead)
      : connection_{std::move(socket), std::move(ahead)} {}

  void read(Seen& seen) {
    if (seen.ended) return;
    if (!link_ && !read_hello(seen)) return;
    for (const ControlMessage& message : link_->receive())
      seen.messages += make_frame(encode(message));
    seen.ended = link_->presence() != ControlLink::Presence::present;
  }

 private:
  bool read_hello(Seen& seen) {
    PeerHello hello;
    try {
      const HelloProgress progress = receive_hello(connection_, hello);
      seen.ended = progress == HelloProgress::connection_ended;
      if (progress != HelloProgress::whole) return false;
    } catch (const Error&) {
      seen.ended = true;
      return false;
    }
    seen.hello = hello;
    link_.emplace(std::move(connection_));
    return true;
  }

  AuthenticatedConnection connection_;
  std::optional<ControlLink> link_;
};

void check(const Seen& seen, const std::string& sent) {
  if (!seen.hello) return require(seen.messages.empty(), "nothing is read before the hello");
  require(sent.size() >= PeerHello::kBytes, "a hello is whole");
  const std::string behind = sent.substr(PeerHello::kBytes);
  require(behind.compare(0, seen.messages.size(), seen.messages) == 0,
          "messages are read as they were sent, and none is lost");
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string hello = PeerHello{1, 0}.encode();
  const std::string ask = make_frame(encode(Ask{}));
  const std::string all = hello + ask + make_frame(encode(Announcement{5, 1, 4096})) +
                          make_frame(encode(Taken{{1, 7}})) + make_frame(encode(Goodbye{}));
  auto steps = [](char length, const std::string& bytes) {
    std::string cut;
    for (std::size_t at = 0; at < bytes.size(); at += static_cast<std::size_t>(length))
      cut += length + bytes.substr(at, static_cast<std::size_t>(length));
    return cut;
  };
  return {std::string("\0", 1) + steps(100, all), std::string("\x64", 1) + steps(1, all),
          std::string("\x05", 1) + steps(24, all), std::string("\x64", 1) + all};
}

}  // namespace lockstep::internal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::internal;
  using namespace lockstep::internal::fuzz;
  Input input(data, size);
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0) return 0;
  const UniqueFd peer(pair[1]);
  // Data that arrived in one send with the proof.
  std::string sent(input.bytes(input.byte()));
  Reader rank(UniqueFd(pair[0]), sent);
  Seen seen;
  rank.read(seen);
  while (!input.empty()) {
    const std::uint8_t length = input.byte();
    const std::string_view piece = input.bytes(length & 0x7f);
    const ssize_t put = ::send(peer.get(), piece.data(), piece.size(), MSG_NOSIGNAL);
    if (put > 0) sent += piece.substr(0, static_cast<std::size_t>(put));
    if ((length & 0x80) == 0) rank.read(seen);  // otherwise the next piece arrives with it
    check(seen, sent);
  }
  rank.read(seen);
  check(seen, sent);
  return 0;
}
