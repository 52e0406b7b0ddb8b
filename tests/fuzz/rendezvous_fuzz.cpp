// The server's side of several connections to the rendezvous at once: before the handshake, and
// after a connection has proved the token. The input decides which connection sends what.
#include "base/net/handshake.h"
#include "fuzz.h"
#include "launch/rendezvous/store_session.h"

#include <array>
#include <optional>

namespace lockstep::internal::fuzz {

using launch::StoreRequest;
using launch::StoreSession;
using launch::StoreStatus;
using launch::StoreTable;

namespace {

constexpr std::uint8_t kHangUp =
    0x10;  ///< in a step's first byte, whose low bits name the connection
constexpr std::uint8_t kNote = 0x20;
constexpr std::size_t kConnections = 4;

/// The server's state of one connection.
class Connection {
 public:
  /// `ahead` arrives in one send with the proof.
  Connection(StoreTable& table, bool proves, std::string_view ahead) : table_(table) {
    if (proves)
      prove(ahead);
    else
      feed_unauthenticated(ahead);
  }

  void feed(std::string_view bytes) {
    if (!session_) return feed_unauthenticated(bytes);
    session_->feed(bytes);
    take_answers();
  }

  void take_answers() {
    if (!session_) return;
    require(session_->outgoing().size() <= StoreSession::kMaxOutgoing + kMaxFrame + 4,
            "what waits to be sent is bounded");
    while (auto answer = take_frame(session_->outgoing()))
      require(!answer->empty() && (*answer)[0] >= static_cast<char>(StoreStatus::ok) &&
                  (*answer)[0] <= static_cast<char>(StoreStatus::not_yet),
              "an answer begins with a status");
    require(session_->outgoing().empty(), "answers are whole frames");
  }

 private:
  void prove(std::string_view ahead) {
    Handshake client(Handshake::Side::client, "token", "rendezvous");
    std::string to_client = handshake_.to_send();
    client.feed(to_client);
    received_ = client.to_send().append(ahead);
    handshake_.feed(received_);
    require(handshake_.state() == Handshake::State::authenticated, "the right token is let in");
    require(received_ == ahead, "what follows the proof is left for the session");
    session_.emplace(table_);
    session_->feed(received_);
  }

  void feed_unauthenticated(std::string_view bytes) {
    received_ += bytes;
    handshake_.feed(received_);
    sent_ += handshake_.to_send().size();
    require(handshake_.state() != Handshake::State::authenticated,
            "an unauthenticated end proves nothing");
    require(sent_ <= 41, "an unauthenticated end gets a nonce and a result");
  }

  StoreTable& table_;
  Handshake handshake_{Handshake::Side::server, "token", "rendezvous"};
  std::string received_;
  std::size_t sent_ = 0;
  std::optional<StoreSession> session_;
};

std::string step(int connection, const std::string& bytes) {
  return std::string({static_cast<char>(connection), static_cast<char>(bytes.size())}) + bytes;
}

std::string request(int connection, const StoreRequest& request) {
  return step(connection, make_frame(request.encode()));
}

}  // namespace

std::vector<std::string> seeds() {
  using Kind = StoreRequest::Kind;
  const std::string get = request(0, {Kind::get, "k", "", 2});
  const std::string set = request(1, {Kind::set, "k", "value", -1});
  const std::string ending = request(1, {Kind::ending, "", "", 2});
  const std::string report = request(0, {Kind::report, "", "died", 2});
  return {get + set,
          ending + report,
          get + request(1, {Kind::report, "", "died", 2}),
          get + step(kNote | 2, ""),
          set + set + request(1, {Kind::get, "k", "", -1}),
          get + step(kHangUp, "") + set,
          step(2, "LOCKSTP1" + std::string(64, 'x')),
          step(3, "GET / HTTP/1.1")};
}

}  // namespace lockstep::internal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::internal::fuzz;
  Input input(data, size);
  StoreTable table;
  std::array<std::optional<Connection>, kConnections> connections;
  while (!input.empty()) {
    const std::uint8_t what = input.byte();
    const std::string_view bytes = input.bytes(input.byte());
    const std::size_t index = what % kConnections;
    if ((what & kHangUp) != 0) connections[index].reset();
    if ((what & kNote) != 0) table.note_ending(static_cast<int>(index), std::string(bytes));
    if (connections[index])
      connections[index]->feed(bytes);
    else
      connections[index].emplace(table, index < 2, bytes);
    for (auto& each : connections)
      if (each) each->take_answers();
  }
  return 0;
}
