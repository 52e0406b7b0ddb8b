// Two ends with one token, and the input in between: it may forward, cut, change or add bytes. Only
// unchanged bytes may lead to a proof.
#include "base/net/handshake.h"
#include "fuzz.h"

namespace lockstep::internal::fuzz {

namespace {

constexpr std::size_t kHello = 8 + 32;
constexpr std::size_t kReply = 8 + 32 + 32;

enum Action : std::uint8_t { pass, flip, cut, add, replace, kActions };

/// One end, the bytes it sent, and the bytes it received.
struct End {
  explicit End(Handshake::Side side) : handshake(side, "token", "purpose") {}
  Handshake handshake;
  std::string said;
  std::string told;
  std::string buffer;
};

std::string tamper(std::string words, Input& input) {
  switch (input.byte() % kActions) {
    case flip:
      if (!words.empty()) words[input.byte() % words.size()] ^= static_cast<char>(input.byte());
      break;
    case cut:
      words.resize(words.size() - input.byte() % (words.size() + 1));
      break;
    case add:
      words += input.bytes(input.byte());
      break;
    case replace:
      words = input.bytes(input.byte());
      break;
  }
  return words;
}

void carry(End& from, End& to, Input& input) {
  const std::string words = from.handshake.to_send();
  from.said += words;
  const std::string changed = tamper(words, input);
  to.told += changed;
  to.buffer += changed;
  to.handshake.feed(to.buffer);
}

void check(const End& server, const End& client) {
  const bool server_proved = server.handshake.state() == Handshake::State::authenticated;
  const bool client_proved = client.handshake.state() == Handshake::State::authenticated;
  if (server_proved)
    require(client.told.substr(0, kHello) == server.said.substr(0, kHello) &&
                server.told.substr(0, kReply) == client.said.substr(0, kReply),
            "a server believes only unchanged words");
  require(!client_proved || server_proved, "a client believes only a server that believed it");
  if (client_proved)
    require(client.told.substr(0, kHello + 33) == server.said, "and only unchanged words");
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string untouched(8, pass);
  return {untouched,
          std::string({pass, flip, 3, 1}),
          std::string({pass, cut, 1}),
          std::string({pass, pass, flip, 0, 3}),
          std::string({pass, add, 4, 'w', 'o', 'r', 'd'}),
          std::string({replace, 8, 'L', 'O', 'C', 'K', 'S', 'T', 'P', '1'})};
}

}  // namespace lockstep::internal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::internal;
  fuzz::Input input(data, size);
  fuzz::End server(Handshake::Side::server);
  fuzz::End client(Handshake::Side::client);
  for (int round = 0; round < 4; ++round) {
    fuzz::carry(server, client, input);
    fuzz::carry(client, server, input);
    fuzz::check(server, client);
  }
  return 0;
}
