// Site: this host's part of a run as its launcher sees it: which ranks it has, where the rendezvous
// is, and what happens on the other hosts.
#pragma once

#include "launch/environment.h"
#include "launch/node_watch.h"
#include "launch/outcome.h"
#include "launch/store_client.h"
#include "launch/store_server.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace lockstep::launch {

/// One launcher a host; all say the same about everything here but `rank`.
struct NodeOptions {
  int count = 1;
  int rank = 0;  ///< node 0's launcher serves the rendezvous
  /// An address of node 0 that all nodes reach. Port 0 lets the kernel pick: for one node only.
  Address master{"127.0.0.1", 0};
  /// What all launchers of the run know and nobody else. Needed for several nodes and for a master
  /// beyond loopback; otherwise a new one is made if it is empty.
  std::string token{};
  /// How long to wait for the other nodes. Longer where they are queued for.
  std::chrono::milliseconds rendezvous_timeout = std::chrono::seconds(300);
  /// Told after a few seconds, and then twice a minute, what this launcher waits for meanwhile.
  std::function<void(const std::string& what)> waiting{};
  /// How long a launcher may be silent before it counts as lost. Shorter notices a frozen host
  /// sooner, and a busy one wrongly.
  std::chrono::milliseconds silence = std::chrono::seconds(30);
  /// Of a run that starts again: what run() was, so that no node comes to another run, or to the
  /// old rendezvous.
  std::string run{};
  /// How often the run was started before. Node 0's counts: the others get it from there.
  int restart = 0;
  /// The run goes on without workers that it loses: see muster.h. For one node.
  bool elastic = false;
  /// This host's workers join a run that goes on at `master`, whose launcher serves the rendezvous.
  bool join = false;
};

/// One thread at a time.
class Site {
 public:
  /// Opens the rendezvous; of several nodes, waits for all to come. Throws UsageError for options
  /// that make no sense, TimeoutError if a node does not come, and Error if the port is in use or
  /// the token is wrong.
  Site(const NodeOptions& options, int workers, std::chrono::milliseconds grace);

  int first_rank() const { return first_rank_; }
  int world_size() const { return world_size_; }

  /// The name of this start of the run (see run_identity.h): the same on all nodes.
  const std::string& run() const { return run_; }

  /// How often the run was started before: LOCKSTEP_RESTART for the workers.
  int restart() const { return restart_; }

  /// Of an elastic run: how many workers it began with.
  int began_with() const { return began_with_; }
  /// Where the rendezvous is, and what it asks for.
  const Address& rendezvous() const { return rendezvous_; }
  const std::string& token() const { return token_; }

  /// What tells worker `index` of this host its place, in LOCKSTEP_* and torchrun's variables.
  std::map<std::string, std::string> variables_of(int index) const;

  /// All workers of this host have been forked.
  void started();

  /// A worker of this host has ended: tells the rendezvous, and if it failed the other nodes.
  void worker_ended(const Outcome& outcome);

  /// This launcher was told to end by a signal: so the whole run ends.
  void interrupted(int signal);

  /// Keeps up with the other nodes without waiting. Whether the run has failed elsewhere.
  bool tick();

  /// All workers of this host have ended.
  void done();
  /// Whether the other nodes are done as well.
  bool ended() const { return !watch_ || watch_->ended(); }

  /// The failure on another node that came before any of this one.
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
  void vouch_for_workers();
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
  std::uint16_t master_port_ = 0;  ///< for programs that meet by themselves; not the rendezvous's
  std::optional<StoreServer> server_;  ///< on node 0
  Address rendezvous_;
  std::unique_ptr<NodeWatch> watch_;      ///< of several nodes
  std::unique_ptr<StoreClient> vouches_;  ///< of workers that join: see StoreClient::vouch_for()
  std::unique_ptr<StoreClient> place_;    ///< of several nodes: has claimed this one's place
  bool rendezvous_lost_ = false;
  bool start_ended_ = false;  ///< and the rendezvous says so
};

}  // namespace lockstep::launch
