// server: the weights live with parameter servers, threads on the first K ranks with an equal part
// of the flat array each. A worker sends each server its part of the gradients and gets the updated
// weights back. Synchronous, all workers' gradients make one update, the same as with ddp;
// asynchronous, each makes an update of its own as soon as it is here, and a worker waits only if
// it is too far ahead of the slowest. See parameter_server.h.
//
// A server has one thread for each worker of another rank, which listens from that server's first
// step on until all have settled; its own rank's worker hands over in memory.
#pragma once

#include "sync/parameter_server.h"

#include <atomic>
#include <thread>

namespace lockstep::sync {

class Server : public SyncMethod {
 public:
  /// REQUIRES: 1 <= servers <= group.size(); the weights are laid out like the gradients.
  Server(Group group, const Gradients& gradients, ArrayView weights, ReduceOp op, int servers,
         std::optional<int> staleness);
  /// Waits, up to the group's deadline, for workers that have not settled: servers take a rank that
  /// leaves without for one that is lost.
  ~Server() override;

  void ready(std::size_t) override {}
  void finish() override {}
  void step(optim::Optimizer& optimizer) override;
  std::optional<Share> share() const override;
  std::vector<Slot> runs_of(int rank) const override;
  void adopt_weights() override;
  void settle(optim::Optimizer& optimizer) override;
  void set_learning_rate(optim::Optimizer& optimizer, double rate) override;

  /// On ranks with a server: see ParameterServer.
  int largest_lead() const { return server_ ? server_->largest_lead() : 0; }

 private:
  /// What a worker asks a server for.
  enum class Request : std::int32_t { update, settle };

  Slot part_of(int server) const;
  void start_listening(optim::Optimizer& optimizer);
  void stop_listening();
  /// Asks all servers, and returns with all weights.
  void ask_servers(Request request);
  void ask_own_server(Request request);

  // On the threads that listen.
  void listen(int worker);
  Request await_request(int worker);

  Group group_;
  const Gradients& gradients_;
  const ArrayView weights_;
  const int servers_;
  std::unique_ptr<ParameterServer> server_;  ///< null on ranks without
  std::vector<std::thread> listeners_;
  std::atomic<bool> leaving_{false};
};

}  // namespace lockstep::sync
