#include "predict/simulator.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/number.h"
#include "base/temporary_file.h"
#include "comm/collectives/ring.h"
#include "launch/process/tool.h"
#include "predict/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::internal::predict {

using simulate::Topology;

namespace {

/// Smaller rings are simulated directly, which is fast.
constexpr int kManyRanks = 64;
/// The number of hosts that the fat tree and the dragonfly can connect.
constexpr int kMostHosts = 1024;

constexpr std::pair<std::string_view, Topology> kTopologies[] = {
    {"switch", Topology::one_switch},
    {"fat-tree", Topology::fat_tree},
    {"dragonfly", Topology::dragonfly}};

void write_request(const std::string& path, const simulate::Request& request,
                   const Pattern& pattern) {
  const UniqueFd file = open_file(path, O_WRONLY | O_TRUNC);
  if (!file) throw FileError(fmt::format("{}: cannot open: {}", path, last_system_error()));
  auto append = [&](const auto* values, std::size_t count) {
    write_all(file.get(), {reinterpret_cast<const char*>(values), count * sizeof *values}, path);
  };
  append(&request, 1);
  for (const comm::RecordedSteps& steps : pattern.ranks) {
    const std::uint64_t count = steps.size();
    append(&count, 1);
    append(steps.data(), steps.size());
  }
}

/// A collective that moves bytes takes more than 0 seconds.
double read_result(const std::string& path, bool moves_bytes) {
  std::string text = read_file(path);
  if (text.ends_with('\n')) text.pop_back();
  const auto seconds = number_in<double>(text);
  if (!seconds || !std::isfinite(*seconds) || *seconds < 0 || (moves_bytes && *seconds == 0))
    throw Error(fmt::format("lockstep-simulate's result is '{}'", text));
  return *seconds;
}

}  // namespace

Topology parse_topology(std::string_view name) {
  for (const auto& [its_name, topology] : kTopologies)
    if (its_name == name) return topology;
  throw UsageError(
      fmt::format("unknown topology '{}': choose from switch, fat-tree and dragonfly", name));
}

void require_room(Topology topology, const comm::RecordedWorld& world) {
  if (topology == Topology::one_switch || world.hosts() <= kMostHosts) return;
  throw UsageError(fmt::format(
      "{} workers are on {} hosts, but a {} has places for {}: use fewer workers, more ranks per "
      "host (--ranks-per-host), or one switch",
      world.size, world.hosts(), topology == Topology::fat_tree ? "fat tree" : "dragonfly",
      kMostHosts));
}

Simulator::Simulator(SimulatorOptions options) : options_(std::move(options)) {
  if (!std::filesystem::exists(options_.program))
    throw UsageError(fmt::format("{} not found: install libsimgrid-dev and build again",
                                 options_.program.string()));
  if (!(options_.slow_link >= 1 && std::isfinite(options_.slow_link)))
    throw UsageError("--slow-link must be 1 or more: it is a factor of the transfer time");
  if (options_.slow_link > 1 && options_.topology != Topology::one_switch)
    throw UsageError("--slow-link needs the topology switch: omit --topology");
}

double Simulator::seconds(const Collective& collective, const Cluster& cluster) {
  const int ranks = cluster.world.size;
  const double most = ranks * static_cast<double>(comm::kRingSegmentBytes);
  const bool ring = resolve(collective, cluster.world) == Algorithm::ring;
  const bool affine = ring && collective.bytes <= most && options_.slow_link == 1;
  if (!affine || ranks < kManyRanks) return exactly(collective, cluster);
  Collective shortest = collective;
  shortest.algorithm = Algorithm::ring;  // `auto` would choose another for so few bytes
  Collective longest = shortest;
  shortest.bytes = ranks * static_cast<double>(sizeof(float));  // one in every chunk
  longest.bytes = most / 8;                                     // long enough for the slope
  const double first = exactly(shortest, cluster), last = exactly(longest, cluster);
  const double place = (collective.bytes - shortest.bytes) / (longest.bytes - shortest.bytes);
  return first + std::max(0.0, place) * (last - first);
}

double Simulator::exactly(const Collective& collective, const Cluster& cluster) {
  const Key key{collective.operation, resolve(collective, cluster.world),
                static_cast<std::uint64_t>(collective.bytes), cluster.world.size,
                cluster.world.per_host};
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  // A barrier is just an agreement; direct collectives meet instead.
  const bool agrees = resolve(collective, cluster.world) != Algorithm::direct;
  const double agreement = agrees ? closed_form_seconds({comm::Operation::barrier}, cluster) : 0;
  return known_[key] = agreement + run(collective, cluster);
}

double Simulator::run(const Collective& collective, const Cluster& cluster) const {
  const UnnamedFile request, result;
  const NetworkModel& network = cluster.network;
  write_request(request.path(),
                {.topology = options_.topology,
                 .ranks = static_cast<std::uint32_t>(cluster.world.size),
                 .per_host = static_cast<std::uint32_t>(cluster.world.per_host),
                 .latency = network.latency,
                 .per_byte = network.per_byte,
                 .per_added = network.per_added,
                 .meeting = network.meeting,
                 .per_copied = network.per_copied,
                 .slow_link = options_.slow_link},
                record(collective, cluster.world));
  launch::run_tool({options_.program, request.path(), result.path()});
  return read_result(result.path(), cluster.world.size > 1 && collective.bytes >= sizeof(float));
}

std::optional<Prediction> simulate_prediction(Simulator& simulator, const ScalingJob& job,
                                              const Prediction& by_formula) {
  const Cluster cluster = cluster_of(job, by_formula.workers);
  const std::vector<Exchange> exchanges = exchanges_of(by_formula.plan, job.run, cluster.world);
  const bool all_collectives = std::all_of(exchanges.begin(), exchanges.end(), [](const auto& one) {
    return one.collective.has_value();
  });
  if (!all_collectives) return std::nullopt;
  Prediction simulated = by_formula;
  simulated.simulated = true;
  simulated.forecast = forecast(job.run, by_formula.plan, cluster,
                                [&](const Collective& collective, const Cluster& its_site) {
                                  return simulator.seconds(collective, its_site);
                                });
  return simulated;
}

}  // namespace lockstep::internal::predict
