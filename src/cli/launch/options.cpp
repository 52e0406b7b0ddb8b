#include "cli/launch/options.h"

#include <lockstep/error.h>

#include "launch/environment/environment.h"
#include "launch/environment/token_file.h"

#include <fmt/format.h>

namespace lockstep::internal::cli {

namespace {

// The default of torchrun too, so it may already be open between the hosts.
constexpr int kMasterPort = 29500;

std::chrono::milliseconds from_seconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(1000 * seconds));
}

// clang-format off
run::Options options_of(LaunchCommand& options) {
  constexpr std::string_view workers = "Workers", output = "Output",
                             hosts = "Several hosts (the same command on each, but for --node-rank)",
                             elastic = "Elastic runs (for lockstep train --elastic)";
  launch::JobOptions& job = options.job;
  return {
      {.name = "--workers", .field = &job.workers, .group = workers, .range = run::between(1, 1024),
       .help = "number of workers on this host"},
      {.name = "--grace", .field = &options.grace, .group = workers, .range = run::at_least(0),
       .help = "seconds the others may continue after one worker has failed; after an interrupt "
               "at least 60"},
      {.name = "--restarts", .field = &options.restarts, .group = workers,
       .range = run::at_least(0),
       .help = "when a worker dies, restart all, up to N times; LOCKSTEP_RESTART tells the "
               "workers"},
      {.name = "--no-pin", .field = &job.pin, .group = workers, .clears = true,
       .help = "do not pin each worker to its part of the cores"},
      {.name = "--transport", .field = &job.transport, .group = workers,
       .help = "transport of the workers, instead of the one that their program chooses "
               "(LOCKSTEP_TRANSPORT)"},
      {.name = "--interface", .field = &job.interface, .group = workers,
       .help = "network interface or address of the workers, instead of the one that their "
               "program chooses (LOCKSTEP_INTERFACE)"},

      {.name = "--elastic", .field = &job.nodes.elastic, .group = elastic,
       .help = "when a worker dies, the others continue without it"},
      {.name = "--join", .field = &options.join, .group = elastic,
       .help = "HOST:PORT of the launcher of an elastic run, its --master-addr and "
               "--master-port: these workers join the run; needs its token"},

      {.name = "--prefix", .field = &job.output.prefix, .group = output,
       .help = "start every line of output with the rank it comes from: [3] ..."},
      {.name = "--log-dir", .field = &job.output.log_dir, .group = output,
       .help = "folder for a copy of each rank's output: rank-N.log"},
      {.name = "--no-capture", .field = &job.output.capture, .group = output, .clears = true,
       .help = "let workers write straight to the terminal: the report of a failure then lacks "
               "their last lines"},

      {.name = "--nnodes", .field = &job.nodes.count, .group = hosts,
       .range = run::between(1, 65536),
       .help = "number of hosts, each with its own launcher"},
      {.name = "--node-rank", .field = &job.nodes.rank, .group = hosts,
       .help = "number of this host, from 0"},
      {.name = "--master-addr", .field = &job.nodes.master.host, .group = hosts,
       .help = "address of node 0 that all hosts reach: its launcher serves the rendezvous there"},
      {.name = "--master-port", .field = &options.master_port, .group = hosts,
       .range = run::between(1, 65535),
       .help = "port of the rendezvous; default: 29500 for several hosts, else a free port"},
      {.name = "--token-file", .field = &options.token_file, .group = hosts,
       .help = "file with the token that all launchers of the run must know; else LOCKSTEP_TOKEN"},
      {.name = "--new-token", .field = &options.new_token, .group = hosts,
       .help = "write a new token to this new file, which only you can read, and do nothing else"},
      {.name = "--rendezvous-timeout", .field = &options.rendezvous_timeout, .group = hosts,
       .range = run::above(0),
       .help = "seconds to wait for the other hosts"},
  };
}
// clang-format on

void refuse_elastic_contradictions(const LaunchCommand& options) {
  if (options.job.nodes.elastic && options.job.nodes.count > 1)
    throw UsageError(
        "--elastic starts on one host: launchers of other hosts join the run with --join");
  if (options.join.empty()) return;
  for (const char* other :
       {"--elastic", "--nnodes", "--node-rank", "--master-addr", "--master-port", "--restarts"})
    if (options.options->given(other))
      throw UsageError(
          fmt::format("--join adds workers to a run of another launcher: leave out {}", other));
}

void refuse_contradictions(const LaunchCommand& options) {
  auto given = [&](const char* name) { return options.options->given(name); };
  const launch::NodeOptions& nodes = options.job.nodes;
  const launch::OutputOptions& output = options.job.output;
  if (!output.capture && (output.prefix || !output.log_dir.empty()))
    throw UsageError("--no-capture contradicts --prefix and --log-dir, which need the output");
  if (given("--node-rank") && !given("--nnodes"))
    throw UsageError("--node-rank needs --nnodes, the number of hosts");
  if (nodes.count > 1 && !given("--node-rank"))
    throw UsageError(
        fmt::format("--nnodes {} needs --node-rank, the number of this host from 0 to {}",
                    nodes.count, nodes.count - 1));
  if (nodes.rank < 0 || nodes.rank >= nodes.count)
    throw UsageError(fmt::format("--node-rank is {}, but --nnodes {} has nodes 0 to {}", nodes.rank,
                                 nodes.count, nodes.count - 1));
  if (nodes.count > 1 && !given("--master-addr"))
    throw UsageError(fmt::format(
        "--nnodes {} needs --master-addr: an address of node 0 that all hosts reach", nodes.count));
}

}  // namespace

void add_launch_options(CLI::App& command, LaunchCommand& options) {
  options.options.emplace(command, options_of(options));
  command.add_option("program", options.program, "the program and its arguments, after --");
}

void finish_launch_options(LaunchCommand& options) {
  refuse_contradictions(options);
  refuse_elastic_contradictions(options);
  launch::JobOptions& job = options.job;
  job.grace = from_seconds(options.grace);
  if (!job.interface.empty()) address_of_interface(job.interface);
  const int port = options.master_port.value_or(job.nodes.count > 1 ? kMasterPort : 0);
  job.nodes.master.port = static_cast<std::uint16_t>(port);
  job.nodes.join = !options.join.empty();
  if (job.nodes.join) job.nodes.master = Address::parse(options.join, "--join");
  job.nodes.rendezvous_timeout = from_seconds(options.rendezvous_timeout);
  if (!options.token_file.empty())
    job.nodes.token = launch::read_token(options.token_file);
  else
    job.nodes.token = launch::process_variable("LOCKSTEP_TOKEN").value_or("");
}

}  // namespace lockstep::internal::cli
