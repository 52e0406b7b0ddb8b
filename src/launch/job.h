// Starts this host's workers of a run with a rendezvous, and waits for their end.
#pragma once

#include "launch/nodes/node_launcher.h"
#include "launch/process/output_relay.h"
#include "launch/process/supervisor.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace lockstep::internal::launch {

class NetworkHosts;

struct JobOptions {
  /// Number of workers on this host. Each gets its number of cores in OMP_NUM_THREADS, unless that
  /// is already set.
  int workers = 1;
  /// How long the other workers may continue after one has failed. They need the time to detect and
  /// report the failed rank.
  std::chrono::milliseconds grace = std::chrono::seconds(10);
  /// How long workers may continue after an interrupt was forwarded to them, if that is more than
  /// `grace`: a step and a checkpoint take time. The SIGTERM that follows would count as a second
  /// request, after which `lockstep train` ends without a checkpoint. A second interrupt leaves
  /// them `grace`.
  std::chrono::milliseconds interrupt_grace = std::chrono::seconds(60);
  /// Whether each worker is pinned to its cores, if there is at least one for each. Keeps caches
  /// warm and workers apart; turn it off if several jobs share a host, because all of them would
  /// use the same cores.
  bool pin = false;
  /// Elastic runs only: how long a worker may continue after the run is over. The first worker
  /// writes a report then; a hanging worker would never end.
  std::chrono::milliseconds overtime = std::chrono::seconds(60);
  /// For programs that take SIGUSR1 as a request to end cleanly: the first SIGINT, SIGTERM or
  /// SIGHUP is forwarded as SIGUSR1, as is SIGUSR1 itself; further signals within a second count as
  /// the same request. Under mpirun this is the only way: it reacts to the others by killing its
  /// ranks within a second or two.
  bool interrupt_gently = false;
  /// Called when such a signal arrives; `again` is true for a later one, which is forwarded
  /// unchanged.
  std::function<void(bool again)> interrupted{};
  /// LOCKSTEP_TRANSPORT and LOCKSTEP_INTERFACE for the workers: defaults for a program that does
  /// not choose. Empty: not set.
  std::string transport{};
  std::string interface {};
  /// How the workers' output is handled. run_program only.
  OutputOptions output{};
  /// Several hosts. run_program only.
  NodeOptions nodes{};
  /// Simulated hosts: worker i runs on host i, and the rendezvous is at their switch. run_forked
  /// only.
  const NetworkHosts* hosts = nullptr;
};

/// Runs `body` in `workers` forked processes, which exit with the code it returns. The fastest way
/// to start: libraries are loaded once. The workers share this process's output. REQUIRES: this
/// process has no other threads, and `body` does not throw.
JobResult run_forked(const JobOptions& options, const std::function<int()>& body);

/// Runs a program in `workers` processes. Throws UsageError if it cannot be started or the options
/// are invalid, and the exceptions of NodeLauncher and OutputRelay. May be called while other
/// threads run.
JobResult run_program(const JobOptions& options, const std::vector<std::string>& command);

}  // namespace lockstep::internal::launch
