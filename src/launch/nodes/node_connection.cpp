#include "launch/nodes/node_connection.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/net/frame.h"

#include <fmt/format.h>

#include <sys/socket.h>

#include <cerrno>

namespace lockstep::internal::launch {

namespace {

constexpr std::chrono::milliseconds kSignOfLife(1000);

}  // namespace

NodeConnection::NodeConnection(AuthenticatedConnection connection,
                               std::chrono::milliseconds silence)
    : silence_(silence),
      socket_(std::move(connection.socket)),
      received_(std::move(connection.received)),
      heard_(Deadline::after(silence)),
      say_(Deadline::after(kSignOfLife)) {
  detect_dead_hosts(socket_);
}

void NodeConnection::send(const NodeMessage& message) {
  outgoing_ += make_frame(message.encode());
  flush();
}

std::vector<NodeMessage> NodeConnection::service() {
  std::vector<NodeMessage> messages;
  receive();
  try {
    while (auto payload = take_frame(received_)) messages.push_back(NodeMessage::decode(*payload));
  } catch (const Error& error) {
    lose(fmt::format("it sent an invalid message ({})", error.what()));
  }
  if (!messages.empty()) heard_ = Deadline::after(silence_);
  if (heard_.passed()) lose(fmt::format("it has been silent for {:.0f} s", heard_.seconds()));
  if (say_.passed()) {
    send({NodeMessage::Kind::alive});
    say_ = Deadline::after(kSignOfLife);
  }
  flush();
  return messages;
}

void NodeConnection::receive() {
  // The rest stays with the sender until the next call.
  constexpr std::size_t kMostUnread = 2 * kMaxFrame;
  char block[4096];
  while (lost_.empty() && received_.size() < kMostUnread) {
    const ssize_t got = ::recv(socket_.get(), block, sizeof block, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got < 0) return lose(last_system_error());
    if (got == 0) return lose("it closed the connection");
    received_.append(block, static_cast<std::size_t>(got));
  }
}

void NodeConnection::flush() {
  while (lost_.empty() && !outgoing_.empty()) {
    const ssize_t put =
        ::send(socket_.get(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) return;
    if (put < 0) return lose(last_system_error());
    outgoing_.erase(0, static_cast<std::size_t>(put));
  }
}

void NodeConnection::lose(const std::string& why) {
  if (lost_.empty()) lost_ = why;
}

}  // namespace lockstep::internal::launch
