#include "sync/methods/server.h"

#include <lockstep/error.h>

#include "base/check.h"
#include "base/sleep.h"
#include "comm/purpose.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace lockstep::internal::sync {

namespace {

constexpr int kRequestTag = 3;
constexpr int kGradientsTag = 4;
constexpr int kWeightsTag = 5;

constexpr std::chrono::microseconds kShortestPause{20}, kLongestPause{200};

}  // namespace

Server::Server(Group group, const Gradients& gradients, ArrayView weights, ReduceOp op, int servers,
               std::optional<int> staleness)
    : group_(std::move(group)), gradients_(gradients), weights_(weights), servers_(servers) {
  LOCKSTEP_CHECK(servers >= 1 && servers <= group_.size(), "{} servers on {} ranks", servers,
                 group_.size());
  if (group_.rank() >= servers) return;
  const Slot part = part_of(group_.rank());
  if (part.count == 0) return;
  server_ = std::make_unique<ParameterServer>(
      group_.size(), group_.rank(), gradients.all().slice(part.begin, part.count), op, staleness);
}

Server::~Server() {
  if (!listeners_.empty())
    server_->fail(std::make_exception_ptr(
        Error(fmt::format("rank {} left in the middle of a step", group_.rank()))));
  stop_listening();
}

/// Parts are whole cache lines, so that no two servers write to one line.
Slot Server::part_of(int server) const {
  const std::size_t line = 64 / size_of(weights_.type);
  const std::size_t lines = (weights_.count + line - 1) / line;
  auto begin_of = [&](int number) {
    const std::size_t first =
        lines * static_cast<std::size_t>(number) / static_cast<std::size_t>(servers_);
    return std::min(weights_.count, first * line);
  };
  return {begin_of(server), begin_of(server + 1) - begin_of(server)};
}

std::optional<OwnedSlice> Server::owned_slice() const {
  if (server_) return server_->owned_slice();
  return OwnedSlice{weights_.slice(0, 0), gradients_.all().slice(0, 0)};
}

std::vector<Slot> Server::runs_of(int rank) const {
  if (rank >= servers_) return {};
  return {part_of(rank)};
}

void Server::adopt_weights() {
  if (!server_) return;
  const Slot part = part_of(group_.rank());
  server_->set_weights(weights_.slice(part.begin, part.count));
}

void Server::set_learning_rate(optim::Optimizer& optimizer, double rate) {
  if (server_)
    server_->set_learning_rate(optimizer, rate);
  else
    optimizer.set_learning_rate(rate);
}

void Server::step(optim::Optimizer& optimizer) {
  start_listening(optimizer);
  ask_servers(Request::update);
}

void Server::settle(optim::Optimizer& optimizer) {
  start_listening(optimizer);
  ask_servers(Request::settle);
  stop_listening();
}

void Server::ask_servers(Request request) {
  // All sends end before this rank waits for its own server: another server may wait for them.
  const comm::PurposeMark mark(request == Request::update ? comm::Purpose::gradients
                                                          : comm::Purpose::weights);
  std::vector<Work> sends, receives;
  const ConstArrayView word(&request, 1, DataType::int32);
  for (int server = 0; server < servers_; ++server) {
    const Slot part = part_of(server);
    if (server == group_.rank() || part.count == 0) continue;
    sends.push_back(group_.isend(word, server, kRequestTag));
    if (request == Request::update)
      sends.push_back(
          group_.isend(gradients_.all().slice(part.begin, part.count), server, kGradientsTag));
    receives.push_back(group_.irecv(weights_.slice(part.begin, part.count), server, kWeightsTag));
  }
  for (Work& work : sends) work.wait();
  if (server_) ask_own_server(request);
  for (Work& work : receives) work.wait();
}

void Server::ask_own_server(Request request) {
  const int worker = group_.rank();
  if (request == Request::update)
    server_->deliver(worker);
  else
    server_->settle(worker);
  const Slot part = part_of(worker);
  server_->copy_weights(weights_.slice(part.begin, part.count));
}

void Server::start_listening(optim::Optimizer& optimizer) {
  if (!server_ || !listeners_.empty()) return;
  server_->use(optimizer);
  for (int worker = 0; worker < group_.size(); ++worker)
    if (worker != group_.rank())
      listeners_.emplace_back("server", [this, worker] { listen(worker); });
}

void Server::stop_listening() {
  if (listeners_.empty()) return;
  leaving_ = true;
  listeners_.clear();  // waits for them
  leaving_ = false;
}

void Server::listen(int worker) {
  const comm::PurposeMark mark(comm::Purpose::weights);
  try {
    std::vector<std::byte> buffer;
    for (;;) {
      const Request request = await_request(worker);
      if (request == Request::update) {
        group_.recv(server_->inbox(worker), worker, kGradientsTag);
        server_->deliver(worker);
      } else {
        server_->settle(worker);
      }
      group_.send(server_->weights_for_sending(buffer), worker, kWeightsTag);
      if (request == Request::settle) return;
    }
  } catch (...) {
    server_->fail(std::current_exception());
  }
}

/// The time that a worker computes is not communication and has no deadline: until the worker
/// sends a request, the server polls for it at intervals.
Server::Request Server::await_request(int worker) {
  Request request{};
  Work coming = group_.irecv({&request, 1, DataType::int32}, worker, kRequestTag);
  for (auto pause = kShortestPause; !coming.done() && !leaving_;
       pause = std::min(2 * pause, kLongestPause))
    sleep_for(pause);
  coming.wait();
  return request;
}

}  // namespace lockstep::internal::sync
