#include "comm/mesh/control_link.h"

#include <lockstep/error.h>

#include "base/net/frame.h"

#include <sys/socket.h>

#include <cerrno>

namespace lockstep::internal::comm {

namespace {

/// Blocks to read in one call, so that a peer that never stops sending cannot occupy its reader.
constexpr int kMostBlocks = 64;

/// Far more than calls and messages, which are bounded, can add up to: only a peer that asks
/// repeatedly and reads no answer reaches it.
constexpr std::size_t kMostUnsent = 16 << 20;

}  // namespace

ControlLink::ControlLink(AuthenticatedConnection connection)
    : socket_(std::move(connection.socket)), received_(std::move(connection.received)) {
  detect_dead_hosts(socket_);
}

void ControlLink::send(const ControlMessage& message) {
  if (presence_ != Presence::present || said_goodbye_) return;
  outgoing_ += make_frame(encode(message));
  flush();
  if (outgoing_.size() > kMostUnsent) end();
}

void ControlLink::flush() {
  while (!outgoing_.empty() && presence_ == Presence::present) {
    const ssize_t sent =
        ::send(socket_.get(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    // A broken connection is detected by reading, after the data that the peer sent before it
    // broke.
    if (sent < 0) {
      if (errno == EAGAIN) return;
      outgoing_.clear();
    }
    outgoing_.erase(0, static_cast<std::size_t>(sent));
  }
  if (said_goodbye_ && !ended_) {
    ended_ = true;
    ::shutdown(socket_.get(), SHUT_WR);
  }
}

std::vector<ControlMessage> ControlLink::receive() {
  std::vector<ControlMessage> messages;
  if (presence_ != Presence::present)
    return messages;      // everything after a goodbye message is ignored
  take_frames(messages);  // frames that arrived with the handshake
  for (int block_number = 0; block_number < kMostBlocks && presence_ == Presence::present;
       ++block_number) {
    char block[4096];
    const ssize_t got = ::recv(socket_.get(), block, sizeof block, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      end();
      break;
    }
    received_.append(block, static_cast<std::size_t>(got));
    take_frames(messages);
    if (static_cast<std::size_t>(got) < sizeof block) break;
  }
  return messages;
}

void ControlLink::take_frames(std::vector<ControlMessage>& messages) {
  try {
    while (auto frame = take_frame(received_)) {
      ControlMessage message = decode_control_message(*frame);
      if (const auto* goodbye = std::get_if<Goodbye>(&message)) {
        culprit_ = {goodbye->culprit, goodbye->culprit_died};
        presence_ = Presence::left;
        return;
      }
      messages.push_back(message);
    }
  } catch (const Error&) {  // a peer that violates the protocol counts as dead
    end();
  }
}

void ControlLink::end() {
  presence_ = Presence::died;
  outgoing_.clear();
}

void ControlLink::leave(const Culprit& culprit) {
  if (said_goodbye_ || !socket_) return;
  send(Goodbye{culprit.rank, culprit.died});
  said_goodbye_ = true;
  flush();  // closes this side, unless data is still to be sent
}

}  // namespace lockstep::internal::comm
