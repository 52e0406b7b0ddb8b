// server: the weights live on parameter servers, threads on the first K ranks that own an equal
// part of the flat array each. A worker sends each server its part of the gradients and receives
// the updated weights. Synchronous: all workers' gradients make one update, the same as with ddp.
// Asynchronous: each worker's gradients make an update on arrival, and a worker waits only if it is
// too far ahead of the slowest. See parameter_server.h.
//
// A server has one thread for each worker on another rank. The thread listens from the server's
// first step until all workers have settled. The worker on the server's rank delivers in memory.
#pragma once

#include "base/thread.h"
#include "sync/methods/parameter_server.h"

#include <atomic>

namespace lockstep::internal::sync {

class Server : public SyncMethod {
 public:
  /// REQUIRES: 1 <= servers <= group.size(); the weights are laid out like the gradients.
  Server(Group group, const Gradients& gradients, ArrayView weights, ReduceOp op, int servers,
         std::optional<int> staleness);
  /// Waits, up to the group's deadline, for workers that have not settled: a server takes a rank
  /// that leaves without settling for a lost one.
  ~Server() override;

  void ready(std::size_t) override {}
  void finish() override {}
  void step(optim::Optimizer& optimizer) override;
  bool updates_on_server() const override { return true; }
  std::optional<OwnedSlice> owned_slice() const override;
  std::vector<Slot> runs_of(int rank) const override;
  void adopt_weights() override;
  void settle(optim::Optimizer& optimizer) override;
  void set_learning_rate(optim::Optimizer& optimizer, double rate) override;

  /// On ranks with a server: see ParameterServer. 0 elsewhere.
  int largest_lead() const { return server_ ? server_->largest_lead() : 0; }

 private:
  /// A worker's request to a server.
  enum class Request : std::int32_t { update, settle };

  Slot part_of(int server) const;
  void start_listening(optim::Optimizer& optimizer);
  void stop_listening();
  /// Sends the request to all servers. On return all weights are current.
  void ask_servers(Request request);
  void ask_own_server(Request request);

  // These run on the listening threads.
  void listen(int worker);
  Request await_request(int worker);

  Group group_;
  const Gradients& gradients_;
  const ArrayView weights_;
  const int servers_;
  std::unique_ptr<ParameterServer> server_;  ///< null on ranks without a server
  std::vector<Thread> listeners_;
  std::atomic<bool> leaving_{false};
};

}  // namespace lockstep::internal::sync
