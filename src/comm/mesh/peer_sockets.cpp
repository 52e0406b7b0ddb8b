#include "comm/mesh/peer_sockets.h"

#include <lockstep/error.h>

#include "base/descriptors.h"
#include "base/files.h"
#include "base/host_name.h"
#include "base/text.h"
#include "comm/mesh/peer_hello.h"

#include <fmt/format.h>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <limits>
#include <list>

namespace lockstep::internal::comm {

namespace {

/// A rank's address and identity, as published in the store: "10.0.0.1:4711 812 node7".
struct Card {
  Address address;
  int pid = 0;
  std::string host;

  std::string text() const { return fmt::format("{} {} {}", address.text(), pid, host); }

  static Card parse(const std::string& text, const std::string& whose) {
    const std::vector<std::string> words = split(text, ' ');
    if (words.size() != 3)
      throw Error(fmt::format("the store has an invalid address for {}", whose));
    return {Address::parse(words[0], whose + "'s address"),
            static_cast<int>(
                parse_integer(words[1], whose + "'s pid", 1, std::numeric_limits<int>::max())),
            words[2]};
  }
};

class Connector {
 public:
  Connector(const RunContext& run, const Membership& membership, int channels,
            const WaitLimit& limit)
      : run_(run),
        membership_(membership),
        channels_(channels),
        limit_(limit),
        purpose_(fmt::format("group {} of run {}", membership.group, run.run)),
        listener_({run.address, 0}, run.token, purpose_),
        peers_(static_cast<std::size_t>(membership.size())) {
    for (Peer& peer : peers_) peer.channels.resize(static_cast<std::size_t>(channels));
  }

  std::vector<Peer> connect() {
    run_.store->set(key_of(membership_.rank),
                    Card{listener_.address(), ::getpid(), host_name()}.text());
    for (int below = 0; below < membership_.rank; ++below) connect_to_rank(below);
    expected_ = (membership_.size() - 1 - membership_.rank) * channels_;
    while (expected_ > 0) accept_some();
    for (int above = membership_.rank + 1; above < membership_.size(); ++above) look_up(above);
    peers_[index(membership_.rank)].channels.clear();
    return std::move(peers_);
  }

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  std::string key_of(int rank) const { return fmt::format("mesh/{}/{}", membership_.group, rank); }

  Address look_up(int rank) {
    const std::string whose = fmt::format("rank {}", membership_.labels[index(rank)]);
    const Card card = Card::parse(get_from(run_, membership_, rank, key_of(rank), limit_), whose);
    peers_[index(rank)].pid = card.pid;
    peers_[index(rank)].host = card.host;
    return card.address;
  }

  void connect_to_rank(int below) {
    const Address address = look_up(below);
    for (int channel = 0; channel < channels_; ++channel) {
      AuthenticatedConnection connection =
          connect_authenticated(address, run_.token, purpose_, {limit_.deadline, [&] {
                                                                  limit_.check();
                                                                  look_for_deaths({below});
                                                                }});
      const std::string hello = PeerHello{membership_.rank, channel}.encode();
      // The first bytes on a new connection always fit its buffer.
      if (::send(connection.socket.get(), hello.data(), hello.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(hello.size()))
        throw Error(fmt::format("lost the connection to rank {} while the group was made: {}",
                                membership_.labels[index(below)], last_system_error()));
      if (!may_send_ahead(channel, connection))
        throw Error(
            fmt::format("rank {} sent data before it received this rank's hello: it runs "
                        "another version of Lockstep",
                        membership_.labels[index(below)]));
      peers_[index(below)].channels[index(channel)] = std::move(connection);
    }
  }

  void accept_some() {
    limit_.check();
    if (limit_.deadline.passed()) report_missing();
    std::vector<pollfd> watched{{listener_.fd(), POLLIN, 0}};
    for (const AuthenticatedConnection& connection : unidentified_)
      watched.push_back({connection.socket.get(), POLLIN, 0});
    const auto left = std::min(limit_.deadline.left(), GuardedListener::kTick);
    if (::poll(watched.data(), watched.size(), static_cast<int>(left.count())) == 0)
      look_for_deaths(missing());
    for (AuthenticatedConnection& connection : listener_.service())
      unidentified_.push_back(std::move(connection));
    if (const int error = listener_.shortage())
      throw DescriptorShortageError("accept the connections of other ranks", error);
    for (auto connection = unidentified_.begin(); connection != unidentified_.end();)
      connection = place(*connection) ? unidentified_.erase(connection) : std::next(connection);
  }

  /// Returns whether the connection is settled: it identified itself, it ended, or it is not
  /// expected. An unexpected one does not fail the group, since another may still take its place;
  /// if none does, it is named in the error.
  bool place(AuthenticatedConnection& connection) {
    try {
      return place_expected(connection);
    } catch (const Error& error) {
      refused_ = error.what();
      return true;
    }
  }

  bool place_expected(AuthenticatedConnection& connection) {
    PeerHello hello;
    const HelloProgress progress = receive_hello(connection, hello);
    if (progress != HelloProgress::whole) return progress == HelloProgress::connection_ended;
    if (hello.rank <= membership_.rank || hello.rank >= membership_.size() ||
        hello.channel >= channels_)
      throw Error(
          fmt::format("a peer connected as rank {}, channel {}: the group '{}' expects "
                      "ranks {} to {} here, with {} channels each",
                      hello.rank, hello.channel, membership_.group, membership_.rank + 1,
                      membership_.size() - 1, channels_));
    if (!may_send_ahead(hello.channel, connection)) return true;
    AuthenticatedConnection& place = peers_[index(hello.rank)].channels[index(hello.channel)];
    if (!place.socket) --expected_;
    place = std::move(connection);
    return true;
  }

  /// The control mesh accepts bytes that arrived early. A wire reads its sockets itself: such bytes
  /// would be lost, and all later ones misinterpreted.
  static bool may_send_ahead(int channel, const AuthenticatedConnection& connection) {
    return channel == kControlChannel || connection.received.empty();
  }

  std::vector<int> missing() const {
    std::vector<int> ranks;
    for (int rank = membership_.rank + 1; rank < membership_.size(); ++rank)
      for (const AuthenticatedConnection& channel : peers_[index(rank)].channels)
        if (!channel.socket && (ranks.empty() || ranks.back() != rank)) ranks.push_back(rank);
    return ranks;
  }

  /// At most once per tick, however often it is called.
  void look_for_deaths(const std::vector<int>& ranks) {
    if (!next_look_.passed()) return;
    next_look_ = Deadline::after(GuardedListener::kTick);
    for (int rank : ranks) {
      const auto how = run_.store->ending_of(membership_.members[index(rank)], {});
      if (how)
        throw PeerLostError(membership_.labels[index(rank)],
                            fmt::format("rank {} {} before the group '{}' was made",
                                        membership_.labels[index(rank)], *how, membership_.group));
    }
  }

  [[noreturn]] void report_missing() const {
    std::vector<std::string> names;
    for (int rank : missing()) names.push_back(std::to_string(membership_.labels[index(rank)]));
    throw TimeoutError(
        fmt::format(
            "rank {} waited {:.1f} s for rank {} to connect to {}: did all ranks start, and "
            "can their hosts reach that address? LOCKSTEP_INTERFACE chooses another{}",
            membership_.label(), limit_.deadline.seconds(), enumerate(names),
            listener_.address().text(),
            refused_.empty() ? "" : ". A connection was refused: " + refused_),
        membership_.labels[index(missing().front())]);
  }

  const RunContext& run_;
  const Membership& membership_;
  const int channels_;
  const WaitLimit& limit_;
  const std::string purpose_;
  GuardedListener listener_;
  std::vector<Peer> peers_;
  /// Authenticated, but their rank is not known yet.
  std::list<AuthenticatedConnection> unidentified_;
  Deadline next_look_ = Deadline::after(GuardedListener::kTick);
  std::string refused_;  ///< why a connection was last refused; empty if none was
  int expected_ = 0;     ///< number of connections from ranks above that are missing
};

}  // namespace

std::vector<Peer> connect_peers(const RunContext& run, const Membership& membership, int channels,
                                const WaitLimit& limit) {
  return Connector(run, membership, channels, limit).connect();
}

}  // namespace lockstep::internal::comm
