// coordinator: rank 0 runs a server thread beside its worker. Every worker sends all its gradients
// in one message, waits at a barrier until the server has averaged them, and receives the average.
// This is the textbook form with queues. Rank 0 moves 2(W−1) times the gradients.
#pragma once

#include "base/thread.h"
#include "base/thread_annotations.h"
#include "sync/sync_method.h"

#include <exception>

namespace lockstep::internal::sync {

class Coordinator : public SyncMethod {
 public:
  Coordinator(Group group, const Gradients& gradients, ReduceOp op);
  ~Coordinator() override;

  void ready(std::size_t) override {}
  void finish() override;

 private:
  /// State of the server: a worker's request starts a round, a finished average ends it.
  enum class Server { idle, working, averaged, leaving };

  void ask_server();

  // These run on the server's thread.
  void serve();
  bool wait_for_worker();
  void average();
  void report(std::exception_ptr error);
  void hand_out();
  ArrayView part_of(int rank);

  Group group_;
  const Gradients& gradients_;
  const ReduceOp op_;
  std::vector<std::byte> parts_;  ///< on rank 0: all ranks' gradients, one after another

  Mutex mutex_;
  Condition changed_;
  Server server_ GUARDED_BY(mutex_) = Server::idle;
  std::exception_ptr error_ GUARDED_BY(mutex_);
  Thread thread_;  ///< runs serve(), on rank 0 only
};

}  // namespace lockstep::internal::sync
