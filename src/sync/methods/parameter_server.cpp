#include "sync/methods/parameter_server.h"

#include "base/bytes.h"
#include "base/check.h"
#include "comm/reduce.h"

#include <algorithm>

namespace lockstep::internal::sync {

ParameterServer::ParameterServer(int workers, int own_worker, ArrayView own, ReduceOp op,
                                 std::optional<int> staleness)
    : workers_(workers),
      op_(op),
      staleness_(staleness),
      memory_(own.bytes() * static_cast<std::size_t>(workers + 1)),
      steps_(static_cast<std::size_t>(workers)) {
  std::size_t used = 0;
  auto next_part = [&] {
    std::byte* place = memory_.data() + used;
    used += own.bytes();
    return ArrayView(place, own.count, own.type);
  };
  weights_ = next_part();
  gradients_ = next_part();
  for (int worker = 0; worker < workers; ++worker)
    inboxes_.push_back(worker == own_worker ? own : next_part());
}

OwnedSlice ParameterServer::owned_slice() {
  return {weights_, gradients_};
}

void ParameterServer::set_weights(ConstArrayView weights) {
  Lock lock(mutex_);
  copy_bytes(weights_.data, weights.data, weights_.bytes());
}

void ParameterServer::use(optim::Optimizer& optimizer) {
  Lock lock(mutex_);
  optimizer_ = &optimizer;
}

void ParameterServer::set_learning_rate(optim::Optimizer& optimizer, double rate) {
  Lock lock(mutex_);
  optimizer.set_learning_rate(rate);
}

ArrayView ParameterServer::inbox(int worker) {
  return inboxes_[static_cast<std::size_t>(worker)];
}

void ParameterServer::deliver(int worker) {
  Lock lock(mutex_);
  LOCKSTEP_CHECK(optimizer_ != nullptr, "gradients were delivered to a server without optimizer");
  ++steps_[static_cast<std::size_t>(worker)];
  if (staleness_)
    apply_at_once(worker);
  else
    wait_for_all(worker);
  largest_lead_ = std::max(largest_lead_, lead_of(worker));
}

/// The last worker of a round makes the update.
void ParameterServer::wait_for_all(int) {
  const std::size_t round = rounds_;
  if (++delivered_ < workers_) {
    while (error_ || rounds_ == round) wait_for_change();
    return;
  }
  std::vector<void*> arrays;
  for (const ArrayView& inbox : inboxes_) arrays.push_back(inbox.data);
  comm::reduce_tree(arrays, {&gradients_.data, 1}, gradients_.count, gradients_.type, op_);
  optimizer_->step(0, optimizer_->size());
  delivered_ = 0;
  ++rounds_;
  changed_.notify_all();
}

void ParameterServer::apply_at_once(int worker) {
  const ArrayView inbox = inboxes_[static_cast<std::size_t>(worker)];
  copy_bytes(gradients_.data, inbox.data, inbox.bytes());
  comm::finish_average(gradients_, op_, workers_);
  optimizer_->step(0, optimizer_->size());
  changed_.notify_all();
  while (error_ || lead_of(worker) > *staleness_) wait_for_change();
}

int ParameterServer::lead_of(int worker) const {
  return steps_[static_cast<std::size_t>(worker)] - *std::min_element(steps_.begin(), steps_.end());
}

void ParameterServer::wait_for_change() {
  if (!error_) changed_.wait(mutex_);
  if (error_) std::rethrow_exception(error_);
}

void ParameterServer::settle(int) {
  Lock lock(mutex_);
  const std::size_t settlement = settlements_;
  if (++settled_ < workers_) {
    while (error_ || settlements_ == settlement) wait_for_change();
    return;
  }
  settled_ = 0;
  std::fill(steps_.begin(), steps_.end(), 0);
  ++settlements_;
  changed_.notify_all();
}

ConstArrayView ParameterServer::weights_for_sending(std::vector<std::byte>& buffer) {
  if (!staleness_) return weights_;
  buffer.resize(weights_.bytes());
  const ArrayView copy(buffer.data(), weights_.count, weights_.type);
  copy_weights(copy);
  return copy;
}

void ParameterServer::copy_weights(ArrayView to) {
  Lock lock(mutex_);
  copy_bytes(to.data, weights_.data, weights_.bytes());
}

void ParameterServer::fail(std::exception_ptr error) {
  Lock lock(mutex_);
  if (!error_) error_ = std::move(error);
  changed_.notify_all();
}

int ParameterServer::largest_lead() {
  Lock lock(mutex_);
  return largest_lead_;
}

}  // namespace lockstep::internal::sync
