#include "cli/launch_options.h"

#include <lockstep/error.h>

#include "launch/environment.h"
#include "launch/token_file.h"

#include <fmt/format.h>

namespace lockstep::cli {

namespace {

// Torchrun's default too: what its users expect to be open between their hosts.
constexpr int kMasterPort = 29500;

std::chrono::milliseconds from_seconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(1000 * seconds));
}

void add_output_options(CLI::App& command, LaunchCommand& options) {
  const std::string group = "Output";
  command
      .add_flag("--prefix", options.job.output.prefix,
                "start every line of output with the rank it comes from: [3] ...")
      ->group(group);
  command
      .add_option("--log-dir", options.job.output.log_dir,
                  "also keep all that rank N writes in DIR/rank-N.log")
      ->type_name("DIR")
      ->group(group);
  command
      .add_flag("--no-capture", options.no_capture,
                "let workers write straight to the terminal: a failure's report then lacks their "
                "last lines")
      ->group(group);
}

void add_node_options(CLI::App& command, LaunchCommand& options) {
  launch::NodeOptions& nodes = options.job.nodes;
  const std::string group = "Several hosts (the same command on each, but for --node-rank)";
  command.add_option("--nnodes", nodes.count, "number of hosts, each with a launcher of its own")
      ->capture_default_str()
      ->check(CLI::Range(1, 65536))
      ->group(group);
  command.add_option("--node-rank", nodes.rank, "which of them this is, from 0")->group(group);
  command
      .add_option(
          "--master-addr", nodes.master.host,
          "address of node 0 that all hosts reach: its launcher serves the rendezvous there")
      ->capture_default_str()
      ->group(group);
  command
      .add_option(
          "--master-port", options.master_port,
          fmt::format("port of the rendezvous; default: {} for several hosts, else one that "
                      "is free",
                      kMasterPort))
      ->check(CLI::Range(1, 65535))
      ->group(group);
  command
      .add_option(
          "--token-file", options.token_file,
          "file with the token that all launchers of the run must know; else LOCKSTEP_TOKEN")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--new-token", options.new_token,
                  "write a new token to a new FILE that only you can read, and do nothing else")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--rendezvous-timeout", options.rendezvous_timeout,
                  "seconds to wait for the other hosts")
      ->capture_default_str()
      ->check(CLI::PositiveNumber)
      ->group(group);
}

void add_elastic_options(CLI::App& command, LaunchCommand& options) {
  const std::string group = "Workers that come and go (for lockstep train --elastic)";
  command
      .add_flag("--elastic", options.job.nodes.elastic,
                "a worker that dies ends nobody else: the others go on without it")
      ->group(group);
  command
      .add_option("--join", options.join,
                  "let these workers join the elastic run whose launcher is at HOST:PORT, its "
                  "--master-addr and --master-port; needs its token")
      ->type_name("HOST:PORT")
      ->group(group);
}

void refuse_elastic_contradictions(const CLI::App& command, const LaunchCommand& options) {
  if (options.job.nodes.elastic && options.job.nodes.count > 1)
    throw UsageError(
        "--elastic begins on one host: start it there, and let the others join with --join");
  if (options.join.empty()) return;
  for (const char* other :
       {"--elastic", "--nnodes", "--node-rank", "--master-addr", "--master-port", "--restarts"})
    if (command.count(other) > 0)
      throw UsageError(
          fmt::format("--join is for a run that goes on elsewhere: leave out {}", other));
}

void refuse_contradictions(const CLI::App& command, const LaunchCommand& options) {
  auto given = [&](const char* name) { return command.count(name) > 0; };
  const launch::NodeOptions& nodes = options.job.nodes;
  if (given("--no-capture") && (given("--prefix") || given("--log-dir")))
    throw UsageError("--no-capture contradicts --prefix and --log-dir, which need the output");
  if (given("--node-rank") && !given("--nnodes"))
    throw UsageError("--node-rank needs --nnodes: how many hosts are there?");
  if (nodes.count > 1 && !given("--node-rank"))
    throw UsageError(fmt::format("--nnodes {} needs --node-rank: which of 0 to {} is this host?",
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
  command.add_option("--workers", options.job.workers, "number of workers on this host")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command
      .add_option("--grace", options.grace,
                  "seconds the others may go on after one worker has failed; after an interrupt "
                  "at least 60")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--restarts", options.restarts,
                  "when a worker dies, start all again, up to N times; LOCKSTEP_RESTART tells them")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command.add_flag("--no-pin", options.no_pin, "do not keep each worker on its share of the cores");
  command.add_option("--transport", options.job.transport,
                     "the transport that workers use, whatever their program chooses "
                     "(LOCKSTEP_TRANSPORT)");
  command.add_option("--interface", options.job.interface,
                     "the network interface or address that workers use, likewise "
                     "(LOCKSTEP_INTERFACE)");
  add_elastic_options(command, options);
  add_output_options(command, options);
  add_node_options(command, options);
  command.add_option("program", options.program, "the program and its arguments, after --");
}

void finish_launch_options(const CLI::App& command, LaunchCommand& options) {
  refuse_contradictions(command, options);
  refuse_elastic_contradictions(command, options);
  launch::JobOptions& job = options.job;
  job.grace = from_seconds(options.grace);
  job.pin = !options.no_pin;
  job.output.capture = !options.no_capture;
  if (!job.interface.empty()) address_of_interface(job.interface);
  const bool port_given = command.count("--master-port") > 0;
  const int port = port_given ? options.master_port : job.nodes.count > 1 ? kMasterPort : 0;
  job.nodes.master.port = static_cast<std::uint16_t>(port);
  job.nodes.join = !options.join.empty();
  if (job.nodes.join) job.nodes.master = Address::parse(options.join, "--join");
  job.nodes.rendezvous_timeout = from_seconds(options.rendezvous_timeout);
  if (!options.token_file.empty())
    job.nodes.token = launch::read_token(options.token_file);
  else
    job.nodes.token = launch::process_variable("LOCKSTEP_TOKEN").value_or("");
}

}  // namespace lockstep::cli
