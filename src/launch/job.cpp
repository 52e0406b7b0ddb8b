#include "launch/job.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/host_name.h"
#include "base/net/handshake.h"
#include "launch/elastic/elastic_watch.h"
#include "launch/hosts/cores.h"
#include "launch/hosts/network_hosts.h"
#include "launch/process/flight_recorders.h"
#include "launch/process/process_table.h"
#include "launch/process/program.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>

namespace lockstep::internal::launch {

namespace {

/// The data that one worker needs to start.
struct Start {
  Worker worker;
  std::map<std::string, std::string> variables;
  std::vector<int> cores;  ///< cores to pin it to; empty: any
};

/// Variables set for some jobs only. A launcher that is itself a worker of another job must not
/// pass on the values of that job's launcher.
const std::vector<const char*> kVariablesOfOneJob{"LOCKSTEP_RESTART", "LOCKSTEP_ELASTIC",
                                                  "LOCKSTEP_RECORDERS"};

std::vector<Start> plan_starts(const JobOptions& options, const NodeLauncher& node_launcher,
                               const FlightRecorders& recorders, const Supervisor& supervisor,
                               const std::string& host) {
  const std::vector<int> cores = options.pin ? usable_cores() : std::vector<int>{};
  const std::string threads = std::to_string(threads_per_worker(options.workers));
  std::vector<Start> starts;
  for (int index = 0; index < options.workers; ++index) {
    Start start;
    start.worker.rank = node_launcher.first_rank() + index;
    start.worker.host = host;
    start.variables = node_launcher.variables_of(index);
    start.variables.merge(recorders.variables());
    start.variables[kMarkVariable] = supervisor.mark();
    // OpenMP reads it when it starts.
    if (!process_variable("OMP_NUM_THREADS")) start.variables["OMP_NUM_THREADS"] = threads;
    if (!options.transport.empty()) start.variables["LOCKSTEP_TRANSPORT"] = options.transport;
    if (!options.interface.empty()) start.variables["LOCKSTEP_INTERFACE"] = options.interface;
    if (node_launcher.restart() > 0)
      start.variables["LOCKSTEP_RESTART"] = std::to_string(node_launcher.restart());
    start.cores = share_of_cores(cores, index, options.workers);
    starts.push_back(std::move(start));
  }
  return starts;
}

/// Forks the workers. REQUIRES: `in_child` does not return.
void start_workers(Supervisor& supervisor, std::vector<Start>& starts,
                   const std::function<void(const Start&)>& in_child) {
  const pid_t parent = ::getpid();
  // Flushes the parent's buffers, so that no child writes them again.
  std::fflush(nullptr);
  for (Start& start : starts) {
    const pid_t child = ::fork();
    if (child < 0) {
      const std::string why = last_system_error();
      supervisor.terminate();
      throw Error(fmt::format("cannot start rank {} ({} workers): {}", start.worker.rank,
                              starts.size(), why));
    }
    if (child == 0) {
      Supervisor::prepare_child(parent);
      pin_to(start.cores);
      in_child(start);
      std::_Exit(1);
    }
    start.worker.pid = child;
    supervisor.add(start.worker);
  }
}

/// The rendezvous address for workers on simulated hosts.
NodeOptions at_switch_of(const NetworkHosts& hosts, const JobOptions& options) {
  if (options.workers > hosts.count())
    throw UsageError(
        fmt::format("{0} workers need {0} hosts, not {1}", options.workers, hosts.count()));
  NodeOptions nodes = options.nodes;
  nodes.master = {hosts.address(), 0};
  if (nodes.token.empty()) nodes.token = make_token();
  return nodes;
}

/// For an elastic run that finished without some workers, or failed long after they were lost: the
/// result is that of its end, which is the last worker's.
void forgive_losses(JobResult& result, bool done) {
  result.first_failure.reset();
  for (const Outcome& outcome : result.outcomes)
    if (!done && outcome.failed() && !outcome.told) result.first_failure = outcome;
  for (const Outcome& outcome : result.outcomes)
    if (outcome.failed() && (done || outcome.signal != 0) &&
        !(result.first_failure && result.first_failure->rank == outcome.rank))
      result.warnings.push_back(fmt::format("{}; the other workers continued", outcome.text()));
}

/// This launcher serves the rendezvous: workers that joined from elsewhere need it after the last
/// local worker has ended. Returns the signal that arrived meanwhile, which stops the run, or 0.
int serve_who_joined(ElasticWatch& watch) {
  int signal = 0;
  while (watch.others_go_on()) {
    const int now = Supervisor::pause();
    if (now != 0 && signal != 0) return now;  // a second request does not wait
    if (now != 0) watch.ask_to_stop();
    signal = std::max(signal, now);
  }
  return signal;
}

/// Returns the signal that ended the wait, or 0.
int wait_for_other_nodes(NodeLauncher& node_launcher) {
  node_launcher.done();
  for (;;) {
    node_launcher.tick();
    if (node_launcher.ended()) return 0;
    if (const int signal = Supervisor::pause()) return signal;
  }
}

/// Watches the workers until all have ended, here and on the other nodes.
JobResult supervise(Supervisor& supervisor, NodeLauncher& node_launcher,
                    const FlightRecorders& recorders, const JobOptions& options) {
  const bool elastic = options.nodes.elastic || options.nodes.join;
  ElasticWatch watch(node_launcher.rendezvous(), node_launcher.token(), node_launcher.run(),
                     node_launcher.began_with());
  const auto ended = [&](const Outcome& outcome) { node_launcher.worker_ended(outcome); };
  const auto overdue = [&] { return elastic && watch.over_for(options.overtime); };
  JobResult result = supervisor.wait(options.grace, {.ended = ended,
                                                     .stop = [&] { return node_launcher.tick(); },
                                                     .overdue = overdue,
                                                     .interrupt_grace = options.interrupt_grace,
                                                     .interrupt_gently = options.interrupt_gently,
                                                     .interrupted = options.interrupted,
                                                     .goes_on = elastic});
  if (options.nodes.elastic && result.interrupted_by == 0)
    result.interrupted_by = serve_who_joined(watch);
  if (options.nodes.elastic && result.first_failure) forgive_losses(result, watch.is_done());
  if (result.interrupted_by != 0) node_launcher.interrupted(result.interrupted_by);
  if (const int signal = wait_for_other_nodes(node_launcher)) result.interrupted_by = signal;
  supervisor.end_descendants();
  result.failure_elsewhere = node_launcher.failure_elsewhere();
  result.run = node_launcher.run();
  result.restart = node_launcher.restart();
  result.world_size = node_launcher.world_size();
  if (result.code() != 0) result.flights = recorders.read(node_launcher.first_rank());
  return result;
}

/// Waits until the workers' output has been forwarded, as long as it is being read.
void pass_output_on(OutputRelay& relay, JobResult& result) {
  constexpr std::chrono::seconds kTimeout(60);
  relay.workers_ended();
  std::size_t progress = relay.progress();
  Deadline deadline = Deadline::after(kTimeout);
  while (!relay.done() && !deadline.passed() && Supervisor::pause() == 0)
    if (relay.progress() != progress) {
      progress = relay.progress();
      deadline = Deadline::after(kTimeout);
    }
  for (std::string& warning : relay.stop()) result.warnings.push_back(std::move(warning));
  if (result.first_failure) result.last_lines = relay.last_lines(result.first_failure->rank);
}

}  // namespace

JobResult run_forked(const JobOptions& options, const std::function<int()>& body) {
  if (options.nodes.count != 1) throw UsageError("forked workers run on one host");
  NodeLauncher node_launcher(options.hosts ? at_switch_of(*options.hosts, options) : options.nodes,
                             options.workers, options.grace);
  const FlightRecorders recorders(options.workers);
  Supervisor supervisor;
  std::vector<Start> starts = plan_starts(options, node_launcher, recorders, supervisor, "");
  start_workers(supervisor, starts, [&](const Start& start) {
    for (const char* name : kVariablesOfOneJob) ::unsetenv(name);
    for (const auto& [name, value] : start.variables) ::setenv(name.c_str(), value.c_str(), 1);
    if (options.hosts) options.hosts->enter(start.worker.rank);
    const int code = body();
    std::fflush(nullptr);
    std::_Exit(code);
  });
  node_launcher.started();
  return supervise(supervisor, node_launcher, recorders, options);
}

JobResult run_program(const JobOptions& options, const std::vector<std::string>& command) {
  const Program program(command);
  // Before other nodes are made to wait.
  if (!options.output.log_dir.empty()) make_folder(options.output.log_dir);
  NodeLauncher node_launcher(options.nodes, options.workers, options.grace);
  const FlightRecorders recorders(options.workers);
  Supervisor supervisor;
  std::vector<Start> starts =
      plan_starts(options, node_launcher, recorders, supervisor, host_name());
  std::map<int, ExecTexts> environments;
  for (const Start& start : starts)
    environments.try_emplace(start.worker.rank,
                             Program::environment_with(start.variables, kVariablesOfOneJob));
  std::optional<OutputRelay> relay;
  if (options.output.capture) {
    std::vector<int> ranks;
    for (const Start& start : starts) ranks.push_back(start.worker.rank);
    OutputOptions output = options.output;
    output.append = node_launcher.restart() > 0;
    relay.emplace(output, ranks);
  }
  start_workers(supervisor, starts, [&](const Start& start) {
    if (relay) relay->use_in_child(start.worker.rank);
    program.execute(environments.at(start.worker.rank));
  });
  if (relay) relay->start();
  node_launcher.started();
  JobResult result = supervise(supervisor, node_launcher, recorders, options);
  if (relay) pass_output_on(*relay, result);
  program.require_started();
  return result;
}

}  // namespace lockstep::internal::launch
