#include "launch/store_client.h"

#include <lockstep/error.h>

#include "base/files.h"

#include <fmt/format.h>

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace lockstep::launch {

StoreClient::StoreClient(const Address& address, const Deadline& deadline)
    : address_(address), deadline_(deadline), socket_(connect_to(address, deadline)) {}

void StoreClient::set(const std::string& key, const std::string& value) {
  const std::string answer = ask({StoreRequest::Kind::set, key, value}, deadline_);
  if (static_cast<StoreStatus>(answer[0]) == StoreStatus::already_set)
    throw UsageError(
        fmt::format("two processes claim to be {}, one of them {}: start each only once", key,
                    answer.substr(1)));
}

std::string StoreClient::get(const std::string& key, const Deadline& deadline) {
  return ask({StoreRequest::Kind::get, key, {}}, deadline).substr(1);
}

std::string StoreClient::ask(const StoreRequest& request, const Deadline& deadline) {
  auto lost = [&](const std::string& why) {
    return Error(fmt::format("lost the rendezvous at {} while asking for '{}': {}", address_.text(),
                             request.key, why));
  };
  const std::string frame = make_frame(request.encode());
  if (::send(socket_.get(), frame.data(), frame.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(frame.size()))
    throw lost(last_system_error());
  for (;;) {
    if (auto answer = take_frame(received_)) {
      if (answer->empty()) throw lost("it sent an empty answer");
      return *answer;
    }
    pollfd readable{socket_.get(), POLLIN, 0};
    constexpr std::int64_t kHour = 3'600'000;
    const auto left = static_cast<int>(std::min<std::int64_t>(deadline.left().count(), kHour));
    if (::poll(&readable, 1, left) == 0 && deadline.passed())
      throw TimeoutError(fmt::format(
          "'{}' did not come within {:.1f} s from the rendezvous at {}: did all ranks start?",
          request.key, deadline.seconds(), address_.text()));
    char block[4096];
    const ssize_t got = ::recv(socket_.get(), block, sizeof block, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) throw lost(last_system_error());
    if (got == 0) throw lost("it closed the connection");
    received_.append(block, static_cast<std::size_t>(got));
  }
}

}  // namespace lockstep::launch
