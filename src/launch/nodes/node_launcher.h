// NodeLauncher: this host's part of a run as seen by its launcher: the ranks of this host, the
// address of the rendezvous, and failures on other hosts.
#pragma once

#include "launch/environment/environment.h"
#include "launch/nodes/node_watch.h"
#include "launch/process/outcome.h"
#include "launch/rendezvous/store_client.h"
#include "launch/rendezvous/store_server.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace lockstep::internal::launch {

/// One launcher per host; all have the same options except `rank`.
struct NodeOptions {
  int count = 1;
  int rank = 0;  ///< node 0's launcher serves the rendezvous
  /// An address of node 0 that all nodes can reach. Port 0 lets the kernel pick: for one node only.
  Address master{"127.0.0.1", 0};
  /// The secret shared by all launchers of the run. Required for several nodes and for a master
  /// beyond loopback; otherwise a new token is made if it is empty.
  std::string token{};
  /// How long to wait for the other nodes. Raise it if nodes are queued by a batch system.
  std::chrono::milliseconds rendezvous_timeout = std::chrono::seconds(300);
  /// Called after a few seconds, and then twice a minute, with what this launcher is waiting for.
  std::function<void(const std::string& what)> waiting{};
  /// How long a launcher may be silent before it counts as lost. A shorter time detects a frozen
  /// host sooner, but may take a busy host for lost.
  std::chrono::milliseconds silence = std::chrono::seconds(30);
  /// For a restart: the earlier run(), so that no node joins another run or the old rendezvous.
  std::string run{};
  /// How often the run was started before. Node 0's value is used; the others receive it.
  int restart = 0;
  /// The run survives lost workers: see elastic_membership.h. For one node only.
  bool elastic = false;
  /// This host's workers join a run in progress at `master`, whose launcher serves the rendezvous.
  bool join = false;
};

/// Thread safety: one thread at a time.
class NodeLauncher {
 public:
  /// Opens the rendezvous; with several nodes, waits for all to arrive. Throws UsageError for
  /// invalid options, TimeoutError if a node does not arrive, and Error if the port is in use or
  /// the token is wrong.
  NodeLauncher(const NodeOptions& options, int workers, std::chrono::milliseconds grace);

  int first_rank() const { return first_rank_; }
  int world_size() const { return world_size_; }

  /// The name of this start of the run (see run_identity.h): the same on all nodes.
  const std::string& run() const { return run_; }

  /// How often the run was started before: LOCKSTEP_RESTART for the workers.
  int restart() const { return restart_; }

  /// Elastic runs only: the initial number of workers.
  int began_with() const { return began_with_; }
  /// The address of the rendezvous, and its token.
  const Address& rendezvous() const { return rendezvous_; }
  const std::string& token() const { return token_; }

  /// The variables that tell worker `index` of this host its place: LOCKSTEP_* and torchrun's.
  std::map<std::string, std::string> variables_of(int index) const;

  /// Call it when all workers of this host have been forked.
  void started();

  /// Reports the end of a worker of this host to the rendezvous, and a failure to the other nodes.
  void worker_ended(const Outcome& outcome);

  /// Reports that a signal told this launcher to end, which ends the whole run.
  void interrupted(int signal);

  /// Handles messages of the other nodes without waiting. Returns whether the run has failed
  /// elsewhere.
  bool tick();

  /// Reports that all workers of this host have ended.
  void done();
  /// Whether the other nodes are done too.
  bool ended() const { return !watch_ || watch_->ended(); }

  /// The failure on another node that happened before any on this one.
  std::optional<FailureElsewhere> failure_elsewhere() const;

 private:
  void meet();
  void claim_numbers();
  std::unique_ptr<StoreClient> connect(const Deadline& deadline);
  std::string wait_for_node(StoreClient& store, int node, const Deadline& deadline);
  std::unique_ptr<StoreClient> enter_start(const Deadline& deadline);
  bool claim_node(StoreClient& store, const Deadline& deadline);
  void take_place(StoreClient& store, const Deadline& deadline);
  void say_that_start_ended();
  void join_others(StoreClient& store, const Deadline& deadline);
  std::vector<std::string> count_ranks(StoreClient& store, const Deadline& deadline);
  void declare_workers_lost_on_disconnect();
  void tell_rendezvous(const Outcome& outcome);

  const NodeOptions options_;
  const int workers_;
  const std::chrono::milliseconds grace_;
  const std::string token_;
  std::string run_;
  int restart_;
  int first_rank_ = 0;
  int world_size_;
  int began_with_;
  /// For programs with their own rendezvous; not the port of Lockstep's.
  std::uint16_t master_port_ = 0;
  std::optional<StoreServer> server_;  ///< on node 0 only
  Address rendezvous_;
  std::unique_ptr<NodeWatch> watch_;  ///< several nodes only
  /// For workers that join: see StoreClient::declare_lost_on_disconnect().
  std::unique_ptr<StoreClient> joined_ranks_client_;
  std::unique_ptr<StoreClient> place_;  ///< several nodes only: has claimed this node's place
  bool rendezvous_lost_ = false;
  bool start_ended_ = false;  ///< this start has failed, and the rendezvous has recorded it
};

}  // namespace lockstep::internal::launch
