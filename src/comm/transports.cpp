#include "comm/transports.h"

#include <lockstep/error.h>

#include "base/text.h"
#include "comm/gloo/gloo_wire.h"
#include "comm/hierarchy/hierarchical_transport.h"
#include "comm/mpi/mpi_runtime.h"
#include "comm/mpi/mpi_wire.h"
#include "comm/shm/host_map.h"
#include "comm/shm/shm_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace lockstep::internal::comm {

namespace {

WireKind wire_of(Network network) {
  return network == Network::gloo ? gloo_wire() : mpi_wire();
}

std::unique_ptr<Transport> make_shm(const RunContext& run, const Membership& membership,
                                    const Deadline& deadline) {
  return std::make_unique<SharedTransport>(std::make_unique<ShmSpace>(run, membership, deadline),
                                           membership, deadline);
}

std::unique_ptr<Transport> make_by_hosts(Network network, const RunContext& run,
                                         const Membership& membership, const Deadline& deadline) {
  const std::vector<int> leaders = find_hosts(run, membership, deadline);
  if (std::count(leaders.begin(), leaders.end(), 0) == membership.size())
    return make_shm(run, membership, deadline);
  std::vector<int> one_rank_a_host(leaders.size());
  std::iota(one_rank_a_host.begin(), one_rank_a_host.end(), 0);
  if (leaders == one_rank_a_host)
    return std::make_unique<MeshTransport>(run, membership, wire_of(network), deadline);
  return std::make_unique<HierarchicalTransport>(run, membership, wire_of(network), leaders,
                                                 deadline);
}

}  // namespace

std::vector<std::string> transport_names() {
  std::vector<std::string> names{"thread", "shm"};
  if (gloo_built()) names.insert(names.end(), {"gloo", "shm+gloo"});
  if (mpi_built()) names.insert(names.end(), {"mpi", "shm+mpi"});
  return names;
}

void require_transport(const std::string& name) {
  for (const char* known : {"auto", "shm", "gloo", "mpi", "shm+gloo", "shm+mpi"})
    if (name == known) return;
  throw UsageError(fmt::format("unknown transport '{}' between processes: choose from auto, {}",
                               name, enumerate(transport_names())));
}

std::unique_ptr<Transport> make_transport(const std::string& name, Network network,
                                          const RunContext& run, const Membership& membership,
                                          const Deadline& deadline) {
  require_transport(name);
  if (name == "auto") return make_by_hosts(network, run, membership, deadline);
  if (name == "shm") return make_shm(run, membership, deadline);
  if (name == "gloo" || name == "mpi")
    return std::make_unique<MeshTransport>(
        run, membership, wire_of(name == "gloo" ? Network::gloo : Network::mpi), deadline);
  return std::make_unique<HierarchicalTransport>(
      run, membership, wire_of(name == "shm+gloo" ? Network::gloo : Network::mpi),
      find_hosts(run, membership, deadline), deadline);
}

}  // namespace lockstep::internal::comm
