// ParameterServer: one server's part of the weights, and the rule by which workers' gradients
// change it. It sends nothing itself: whoever speaks for a worker puts its gradients on the
// worker's desk and delivers them.
//
// Synchronous: once all workers have delivered, the gradients are averaged along the fixed tree and
// one update is made; then all go on. Asynchronous: every delivery is an update of its own, by the
// worker's share of the average (1/W of its gradients), made at once; only a worker that would get
// more than `staleness` steps ahead of the slowest has to wait for it.
//
// Thread safety: any number of threads, one for each worker.
#pragma once

#include "base/thread_annotations.h"
#include "sync/sync_method.h"

#include <exception>

namespace lockstep::sync {

class ParameterServer {
 public:
  /// `own` is where the gradients of the server's own rank lie, its worker's number `own_worker`:
  /// its desk.
  ParameterServer(int workers, int own_worker, ArrayView own, ReduceOp op,
                  std::optional<int> staleness);

  /// What its optimizer is to be made for.
  Share share();

  void set_weights(ConstArrayView weights);
  /// Before the first delivery. The optimizer belongs to the server until all have settled.
  void use(optim::Optimizer& optimizer);
  void set_learning_rate(optim::Optimizer& optimizer, double rate);

  /// Where a worker's gradients are to lie.
  ArrayView desk(int worker);

  /// The worker's gradients lie on its desk. Returns when it may go on.
  void deliver(int worker);

  /// The worker delivers no more. Returns when that is so for all; then a new count begins.
  void settle(int worker);

  /// The weights for a worker that may go on; valid until it delivers again. `room` holds them
  /// where they may change meanwhile.
  ConstArrayView weights_for_sending(std::vector<std::byte>& room);
  void copy_weights(ArrayView to);

  /// From now on everyone who waits here gets this error.
  void fail(std::exception_ptr error);

  /// The most steps that a worker was ahead of the slowest when it was let go on.
  int largest_lead();

 private:
  void wait_for_all(int worker) REQUIRES_LOCK(mutex_);
  void apply_at_once(int worker) REQUIRES_LOCK(mutex_);
  int lead_of(int worker) const REQUIRES_LOCK(mutex_);
  /// Throws the error that ended the server.
  void wait_for_change() REQUIRES_LOCK(mutex_);

  const int workers_;
  const ReduceOp op_;
  const std::optional<int> staleness_;
  std::vector<std::byte> memory_;  ///< weights, gradients, and the others' desks
  ArrayView weights_, gradients_;
  std::vector<ArrayView> desks_;

  Mutex mutex_;
  Condition changed_;
  optim::Optimizer* optimizer_ GUARDED_BY(mutex_) = nullptr;
  std::exception_ptr error_ GUARDED_BY(mutex_);
  std::vector<int> steps_ GUARDED_BY(mutex_);  ///< by worker, since all have settled
  int delivered_ GUARDED_BY(mutex_) = 0;       ///< synchronous: in this round
  int settled_ GUARDED_BY(mutex_) = 0;
  std::size_t rounds_ GUARDED_BY(mutex_) = 0;       ///< synchronous: updates made
  std::size_t settlements_ GUARDED_BY(mutex_) = 0;  ///< how often all have settled
  int largest_lead_ GUARDED_BY(mutex_) = 0;
};

}  // namespace lockstep::sync
