#include "sync/methods/coordinator.h"

#include "comm/purpose.h"
#include "sync/methods/rank_zero_average.h"

#include <cstring>

namespace lockstep::internal::sync {

namespace {

constexpr int kGradients = 0;  // tags of the two messages in a step
constexpr int kAverage = 1;

}  // namespace

Coordinator::Coordinator(Group group, const Gradients& gradients, ReduceOp op)
    : group_(std::move(group)), gradients_(gradients), op_(op) {
  if (group_.rank() != 0) return;
  parts_.resize(gradients.layout().bytes() * static_cast<std::size_t>(group_.size()));
  thread_ = Thread("coordinator", [this] { serve(); });
}

Coordinator::~Coordinator() {
  Lock lock(mutex_);
  server_ = Server::leaving;
  changed_.notify_all();
}

void Coordinator::finish() {
  const ArrayView mine = gradients_.all();
  if (group_.rank() == 0)
    ask_server();
  else
    group_.send(mine, 0, kGradients);
  group_.barrier();
  if (group_.rank() == 0)
    std::memcpy(mine.data, part_of(0).data, mine.bytes());
  else
    group_.recv(mine, 0, kAverage);
}

/// Rank 0's worker shares memory with the server, so a request for a round also passes its
/// gradients.
void Coordinator::ask_server() {
  mutex_.lock();
  while (server_ != Server::idle) changed_.wait(mutex_);
  server_ = Server::working;
  changed_.notify_all();
  while (server_ == Server::working) changed_.wait(mutex_);
  const std::exception_ptr error = error_;
  mutex_.unlock();
  if (error) std::rethrow_exception(error);
}

void Coordinator::serve() {
  const comm::PurposeMark mark(comm::Purpose::gradients);
  while (wait_for_worker()) {
    try {
      average();
      report(nullptr);
      hand_out();
    } catch (...) {
      report(std::current_exception());
    }
    Lock lock(mutex_);
    if (server_ == Server::averaged) server_ = Server::idle;
    changed_.notify_all();
  }
}

/// Returns false when the server is to end.
bool Coordinator::wait_for_worker() {
  Lock lock(mutex_);
  while (server_ != Server::working && server_ != Server::leaving) changed_.wait(mutex_);
  return server_ == Server::working;
}

void Coordinator::average() {
  std::vector<Work> coming;
  for (int peer = 1; peer < group_.size(); ++peer)
    coming.push_back(group_.irecv(part_of(peer), peer, kGradients));
  std::memcpy(part_of(0).data, gradients_.all().data, gradients_.all().bytes());
  for (Work& work : coming) work.wait();
  const auto ranks = static_cast<std::size_t>(group_.size());
  reduce_parts({parts_.data(), gradients_.all().count * ranks, gradients_.all().type},
               group_.size(), op_);
}

/// Keeps the error: a failed group stays failed.
void Coordinator::report(std::exception_ptr error) {
  Lock lock(mutex_);
  if (error) error_ = std::move(error);
  if (server_ == Server::working) server_ = Server::averaged;
  changed_.notify_all();
}

void Coordinator::hand_out() {
  std::vector<Work> going;
  for (int peer = 1; peer < group_.size(); ++peer)
    going.push_back(group_.isend(part_of(peer), peer, kAverage));
  for (Work& work : going) work.wait();
}

ArrayView Coordinator::part_of(int rank) {
  const ArrayView all = gradients_.all();
  return {parts_.data() + static_cast<std::size_t>(rank) * all.bytes(), all.count, all.type};
}

}  // namespace lockstep::internal::sync
