#include "launch/job.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/handshake.h"
#include "base/host_name.h"
#include "launch/cores.h"
#include "launch/elastic_watch.h"
#include "launch/flight_recorders.h"
#include "launch/network_hosts.h"
#include "launch/process_table.h"
#include "launch/program.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>

namespace lockstep::launch {

namespace {

/// What one worker needs to start.
struct Start {
  Worker worker;
  std::map<std::string, std::string> variables;
  std::vector<int> cores;  ///< to be pinned to; empty: any
};

/// Set for some jobs only. A launcher that is itself a worker of another job must not pass on what
/// that one's launcher set.
const std::vector<const char*> kVariablesOfOneJob{"LOCKSTEP_RESTART", "LOCKSTEP_ELASTIC",
                                                  "LOCKSTEP_RECORDERS"};

std::vector<Start> plan_starts(const JobOptions& options, const Site& site,
                               const FlightRecorders& recorders, const Supervisor& supervisor,
                               const std::string& host) {
  const std::vector<int> cores = options.pin ? usable_cores() : std::vector<int>{};
  const std::string threads = std::to_string(threads_per_worker(options.workers));
  std::vector<Start> starts;
  for (int index = 0; index < options.workers; ++index) {
    Start start;
    start.worker.rank = site.first_rank() + index;
    start.worker.host = host;
    start.variables = site.variables_of(index);
    start.variables.merge(recorders.variables());
    start.variables[kMarkVariable] = supervisor.mark();
    // Read by OpenMP when it starts.
    if (!process_variable("OMP_NUM_THREADS")) start.variables["OMP_NUM_THREADS"] = threads;
    if (!options.transport.empty()) start.variables["LOCKSTEP_TRANSPORT"] = options.transport;
    if (!options.interface.empty()) start.variables["LOCKSTEP_INTERFACE"] = options.interface;
    if (site.restart() > 0) start.variables["LOCKSTEP_RESTART"] = std::to_string(site.restart());
    start.cores = share_of_cores(cores, index, options.workers);
    starts.push_back(std::move(start));
  }
  return starts;
}

/// Forks the workers; `in_child` must not return.
void start_workers(Supervisor& supervisor, std::vector<Start>& starts,
                   const std::function<void(const Start&)>& in_child) {
  const pid_t parent = ::getpid();
  // What the parent has buffered must not come out once a child as well.
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

/// Where workers on such hosts find their rendezvous.
NodeOptions at_switch_of(const NetworkHosts& hosts, const JobOptions& options) {
  if (options.workers > hosts.count())
    throw UsageError(
        fmt::format("{} workers need as many hosts, not {}", options.workers, hosts.count()));
  NodeOptions nodes = options.nodes;
  nodes.master = {hosts.address(), 0};
  if (nodes.token.empty()) nodes.token = make_token();
  return nodes;
}

/// Of an elastic run that was done without some workers, or that failed when these were long gone:
/// what counts is its end, which is the last worker's.
void forgive_losses(JobResult& result, bool done) {
  result.first_failure.reset();
  for (const Outcome& outcome : result.outcomes)
    if (!done && outcome.failed() && !outcome.told) result.first_failure = outcome;
  for (const Outcome& outcome : result.outcomes)
    if (outcome.failed() && (done || outcome.signal != 0) &&
        !(result.first_failure && result.first_failure->rank == outcome.rank))
      result.warnings.push_back(fmt::format("{}; the others went on", outcome.text()));
}

/// The rendezvous is here: workers that joined from elsewhere need it when the last of this host's
/// is gone. Returns the signal that came meanwhile, which stops the run, or 0.
int serve_who_joined(ElasticWatch& watch) {
  int signal = 0;
  while (watch.others_go_on()) {
    const int now = Supervisor::pause();
    if (now != 0 && signal != 0) return now;  // who asks twice does not want to wait
    if (now != 0) watch.ask_to_stop();
    signal = std::max(signal, now);
  }
  return signal;
}

/// Returns the signal that ended the wait, or 0.
int wait_for_other_nodes(Site& site) {
  site.done();
  for (;;) {
    site.tick();
    if (site.ended()) return 0;
    if (const int signal = Supervisor::pause()) return signal;
  }
}

/// Watches the workers until all have ended, here and on the other nodes.
JobResult supervise(Supervisor& supervisor, Site& site, const FlightRecorders& recorders,
                    const JobOptions& options) {
  const bool elastic = options.nodes.elastic || options.nodes.join;
  ElasticWatch watch(site.rendezvous(), site.token(), site.run(), site.began_with());
  const auto ended = [&](const Outcome& outcome) { site.worker_ended(outcome); };
  const auto overdue = [&] { return elastic && watch.over_for(options.overtime); };
  JobResult result = supervisor.wait(options.grace, {.ended = ended,
                                                     .stop = [&] { return site.tick(); },
                                                     .overdue = overdue,
                                                     .interrupt_grace = options.interrupt_grace,
                                                     .interrupt_gently = options.interrupt_gently,
                                                     .interrupted = options.interrupted,
                                                     .goes_on = elastic});
  if (options.nodes.elastic && result.interrupted_by == 0)
    result.interrupted_by = serve_who_joined(watch);
  if (options.nodes.elastic && result.first_failure) forgive_losses(result, watch.is_done());
  if (result.interrupted_by != 0) site.interrupted(result.interrupted_by);
  if (const int signal = wait_for_other_nodes(site)) result.interrupted_by = signal;
  supervisor.end_descendants();
  result.failure_elsewhere = site.failure_elsewhere();
  result.run = site.run();
  result.restart = site.restart();
  result.world_size = site.world_size();
  if (result.code() != 0) result.flights = recorders.read(site.first_rank());
  return result;
}

/// Waits until the workers' output has been passed on: as long as someone reads it.
void pass_output_on(OutputRelay& relay, JobResult& result) {
  constexpr std::chrono::seconds kPatience(60);
  relay.workers_ended();
  std::size_t progress = relay.progress();
  Deadline deadline = Deadline::after(kPatience);
  while (!relay.done() && !deadline.passed() && Supervisor::pause() == 0)
    if (relay.progress() != progress) {
      progress = relay.progress();
      deadline = Deadline::after(kPatience);
    }
  for (std::string& warning : relay.stop()) result.warnings.push_back(std::move(warning));
  if (result.first_failure) result.last_lines = relay.last_lines(result.first_failure->rank);
}

}  // namespace

JobResult run_forked(const JobOptions& options, const std::function<int()>& body) {
  if (options.nodes.count != 1) throw UsageError("forked workers run on one host");
  Site site(options.hosts ? at_switch_of(*options.hosts, options) : options.nodes, options.workers,
            options.grace);
  const FlightRecorders recorders(options.workers);
  Supervisor supervisor;
  std::vector<Start> starts = plan_starts(options, site, recorders, supervisor, "");
  start_workers(supervisor, starts, [&](const Start& start) {
    for (const char* name : kVariablesOfOneJob) ::unsetenv(name);
    for (const auto& [name, value] : start.variables) ::setenv(name.c_str(), value.c_str(), 1);
    if (options.hosts) options.hosts->enter(start.worker.rank);
    const int code = body();
    std::fflush(nullptr);
    std::_Exit(code);
  });
  site.started();
  return supervise(supervisor, site, recorders, options);
}

JobResult run_program(const JobOptions& options, const std::vector<std::string>& command) {
  const Program program(command);
  // Before other nodes are kept waiting.
  if (!options.output.log_dir.empty()) make_folder(options.output.log_dir);
  Site site(options.nodes, options.workers, options.grace);
  const FlightRecorders recorders(options.workers);
  Supervisor supervisor;
  std::vector<Start> starts = plan_starts(options, site, recorders, supervisor, host_name());
  std::map<int, ExecTexts> environments;
  for (const Start& start : starts)
    environments.try_emplace(start.worker.rank,
                             Program::environment_with(start.variables, kVariablesOfOneJob));
  std::optional<OutputRelay> relay;
  if (options.output.capture) {
    std::vector<int> ranks;
    for (const Start& start : starts) ranks.push_back(start.worker.rank);
    OutputOptions output = options.output;
    output.append = site.restart() > 0;
    relay.emplace(output, ranks);
  }
  start_workers(supervisor, starts, [&](const Start& start) {
    if (relay) relay->use_in_child(start.worker.rank);
    program.execute(environments.at(start.worker.rank));
  });
  if (relay) relay->start();
  site.started();
  JobResult result = supervise(supervisor, site, recorders, options);
  if (relay) pass_output_on(*relay, result);
  program.require_started();
  return result;
}

}  // namespace lockstep::launch
