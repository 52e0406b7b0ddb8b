// Starting this host's workers of a run, with a rendezvous for them, and waiting for their end.
#pragma once

#include "launch/output_relay.h"
#include "launch/site.h"
#include "launch/supervisor.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace lockstep::launch {

class NetworkHosts;

struct JobOptions {
  /// On this host. Each gets its share of the cores in OMP_NUM_THREADS, unless that is set already.
  int workers = 1;
  /// How long the others may go on after one has failed. They need it to notice and to say who
  /// failed.
  std::chrono::milliseconds grace = std::chrono::seconds(10);
  /// How long workers may go on after an interrupt was passed on to them, if that is more than
  /// `grace`: a step and a checkpoint take their time. The SIGTERM that follows would count as a
  /// second request, which `lockstep train` obeys without a checkpoint. A second interrupt leaves
  /// them `grace`.
  std::chrono::milliseconds interrupt_grace = std::chrono::seconds(60);
  /// Whether each worker is kept on its share of the cores, where there is at least one for each.
  /// Keeps caches warm and neighbours apart; turn it off where several jobs share a host, because
  /// each would take the same cores.
  bool pin = false;
  /// Of an elastic run: how long a worker may go on when the run is over. The first one leaves a
  /// report then; one that hangs would never end.
  std::chrono::milliseconds overtime = std::chrono::seconds(60);
  /// For programs that know SIGUSR1 as the wish to end in good order: the first SIGINT, SIGTERM or
  /// SIGHUP reaches the ranks as that, and SIGUSR1 itself does the same; others within a second of
  /// it count as one with it. Under mpirun it is the only way: the others make it end its ranks
  /// within a second or two.
  bool interrupt_gently = false;
  /// Called when such a signal comes; `again` for one that is passed on as it is.
  std::function<void(bool again)> interrupted{};
  /// LOCKSTEP_TRANSPORT and LOCKSTEP_INTERFACE for the workers: for what their program leaves open.
  /// Empty: not set.
  std::string transport{};
  std::string interface {};
  /// What becomes of the workers' output. Of run_program only.
  OutputOptions output{};
  /// Several hosts. Of run_program only.
  NodeOptions nodes{};
  /// Worker i runs on host i of these, and the rendezvous is at their switch. Of run_forked only.
  const NetworkHosts* hosts = nullptr;
};

/// Runs `body` in `workers` forked processes, which exit with the code it returns. The fastest way
/// to start: libraries are loaded once. They write straight to where this process does. REQUIRES:
/// this process has no threads of its own running, and `body` does not throw.
JobResult run_forked(const JobOptions& options, const std::function<int()>& body);

/// Runs a program on `workers` processes. Throws UsageError if it cannot be started, or if the
/// options make no sense; what Site and OutputRelay throw, too. May be called while threads run.
JobResult run_program(const JobOptions& options, const std::vector<std::string>& command);

}  // namespace lockstep::launch
