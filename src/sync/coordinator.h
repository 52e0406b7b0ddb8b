// coordinator: rank 0 has a server thread beside its worker. Every worker hands all its gradients
// over in one piece, waits at a barrier until the server has averaged them, and gets the average
// back. The form that textbooks draw with queues; rank 0 moves 2(W−1) times the gradients.
#pragma once

#include "base/thread_annotations.h"
#include "sync/sync_method.h"

#include <exception>
#include <thread>

namespace lockstep::sync {

class Coordinator : public SyncMethod {
 public:
  Coordinator(Group group, const Gradients& gradients, ReduceOp op);
  ~Coordinator() override;

  void ready(std::size_t) override {}
  void finish() override;

 private:
  /// What the server does now: a worker's hand-over starts a round, an average ends it.
  enum class Server { idle, working, averaged, leaving };

  void ask_server();

  // On the server's thread.
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
  std::thread thread_;  ///< the server's, on rank 0
};

}  // namespace lockstep::sync
