// ParameterServer: one server's part of the weights, and the rule by which workers' gradients
// update it. It sends nothing itself: the thread that serves a worker writes the worker's gradients
// to its inbox and calls deliver().
//
// Synchronous: once all workers have delivered, the gradients are averaged along the fixed tree,
// one update is made, and all workers continue. Asynchronous: every delivery is an update of its
// own by 1/W of the worker's gradients, applied at once. Only a worker that would get more than
// `staleness` steps ahead of the slowest waits.
//
// Thread safety: any number of threads, one for each worker.
#pragma once

#include "base/thread_annotations.h"
#include "sync/sync_method.h"

#include <exception>

namespace lockstep::internal::sync {

class ParameterServer {
 public:
  /// `own` is the inbox of the server's own rank, which is worker `own_worker`: its gradients'
  /// memory.
  ParameterServer(int workers, int own_worker, ArrayView own, ReduceOp op,
                  std::optional<int> staleness);

  /// The weights and gradients that the server's optimizer updates.
  OwnedSlice owned_slice();

  void set_weights(ConstArrayView weights);
  /// Sets the optimizer, which belongs to the server until all workers have settled. REQUIRES: no
  /// worker has delivered yet.
  void use(optim::Optimizer& optimizer);
  void set_learning_rate(optim::Optimizer& optimizer, double rate);

  /// The memory for a worker's gradients.
  ArrayView inbox(int worker);

  /// Delivers the gradients in the worker's inbox. Returns when the worker may continue.
  void deliver(int worker);

  /// The worker delivers no more. Returns when all workers have settled; then steps count from 0
  /// again.
  void settle(int worker);

  /// The weights for a worker that may continue; valid until it delivers again. `buffer` holds a
  /// copy if the weights may change meanwhile.
  ConstArrayView weights_for_sending(std::vector<std::byte>& buffer);
  void copy_weights(ArrayView to);

  /// Makes every waiting call, and every later one, throw this error.
  void fail(std::exception_ptr error);

  /// The largest number of steps by which a worker was ahead of the slowest when it continued.
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
  std::vector<std::byte> memory_;  ///< weights, gradients, and the inboxes of the other workers
  ArrayView weights_, gradients_;
  std::vector<ArrayView> inboxes_;

  Mutex mutex_;
  Condition changed_;
  optim::Optimizer* optimizer_ GUARDED_BY(mutex_) = nullptr;
  std::exception_ptr error_ GUARDED_BY(mutex_);
  std::vector<int> steps_ GUARDED_BY(mutex_);  ///< by worker, since all have settled
  int delivered_ GUARDED_BY(mutex_) = 0;       ///< synchronous: deliveries in this round
  int settled_ GUARDED_BY(mutex_) = 0;
  std::size_t rounds_ GUARDED_BY(mutex_) = 0;       ///< synchronous: updates made
  std::size_t settlements_ GUARDED_BY(mutex_) = 0;  ///< number of times that all have settled
  int largest_lead_ GUARDED_BY(mutex_) = 0;
};

}  // namespace lockstep::internal::sync
