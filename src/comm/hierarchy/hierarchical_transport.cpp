#include "comm/hierarchy/hierarchical_transport.h"

#include "comm/collectives/hierarchical.h"
#include "comm/collectives/tree.h"
#include "comm/shm/host_map.h"
#include "comm/shm/shm_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace lockstep::internal::comm {

namespace {

/// A request on one of the two transports.
struct RoutedRequest : Request {
  RoutedRequest(Transport& via, std::shared_ptr<Request> inner)
      : via(via), inner(std::move(inner)) {}
  Transport& via;
  const std::shared_ptr<Request> inner;
};

std::vector<int> ranks_led_by(const std::vector<int>& leaders, int leader) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < leaders.size(); ++rank)
    if (leaders[rank] == leader) ranks.push_back(static_cast<int>(rank));
  return ranks;
}

int place_in(const std::vector<int>& ranks, int rank) {
  return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

/// The membership of one host's ranks as a separate group, with the same labels as in the whole
/// group.
Membership on_host(const Membership& whole, const std::vector<int>& ranks) {
  Membership host;
  host.group = fmt::format("{}/host of {}", whole.group, ranks.front());
  host.rank = place_in(ranks, whole.rank);
  for (int rank : ranks) {
    host.members.push_back(whole.members[static_cast<std::size_t>(rank)]);
    host.labels.push_back(whole.labels[static_cast<std::size_t>(rank)]);
  }
  return host;
}

/// Runs an operation that waits for ranks of this host. If those only wait for a rank of another
/// host, the error names that rank.
class Neighbours : public DirectCollectives {
 public:
  using Guard = std::function<void(const std::function<void()>&)>;
  Neighbours(DirectCollectives& local, Guard guard) : local_(local), guard_(std::move(guard)) {}

  void all_reduce(const Fingerprint& call, ArrayView data, ReduceOp op,
                  const Deadline& deadline) override {
    guard_([&] { local_.all_reduce(call, data, op, deadline); });
  }
  void reduce_scatter(const Fingerprint& call, ConstArrayView all, ArrayView mine, ReduceOp op,
                      const Deadline& deadline) override {
    guard_([&] { local_.reduce_scatter(call, all, mine, op, deadline); });
  }
  void all_gather(const Fingerprint& call, ConstArrayView mine, ArrayView all,
                  const Deadline& deadline) override {
    guard_([&] { local_.all_gather(call, mine, all, deadline); });
  }
  void broadcast(const Fingerprint& call, ArrayView data, int root,
                 const Deadline& deadline) override {
    guard_([&] { local_.broadcast(call, data, root, deadline); });
  }

 private:
  DirectCollectives& local_;
  const Guard guard_;
};

}  // namespace

HierarchicalTransport::HierarchicalTransport(RunContext run, const Membership& membership,
                                             WireKind kind, std::vector<int> leaders,
                                             const WaitLimit& limit)
    : run_(std::move(run)),
      kind_(std::move(kind)),
      name_(fmt::format("shm+{}", kind_.name)),
      leaders_(std::move(leaders)),
      neighbours_(ranks_led_by(leaders_, leaders_[static_cast<std::size_t>(membership.rank)])),
      mesh_(std::make_unique<MeshTransport>(run_, membership, kind_, limit)) {
  try {
    const Membership host = on_host(membership, neighbours_);
    local_ = std::make_unique<SharedTransport>(std::make_unique<ShmSpace>(run_, host, limit), host,
                                               limit);
  } catch (...) {
    mesh_->abandon(std::current_exception());
    throw;
  }
  local_->while_waiting([this](bool in_collective) { look_beyond_the_host(in_collective); });
  mesh_->while_waiting([this] { return local_->move_messages(); });
  make_lanes();
}

HierarchicalTransport::~HierarchicalTransport() = default;

void HierarchicalTransport::make_lanes() {
  std::vector<std::vector<int>> hosts;
  for (int rank = 0; rank < size(); ++rank)
    if (leaders_[static_cast<std::size_t>(rank)] == rank)
      hosts.push_back(ranks_led_by(leaders_, rank));
  auto lane_of = [&](std::size_t place) {
    std::vector<int> ranks;
    for (const auto& host : hosts) ranks.push_back(host[place]);
    return ranks;
  };
  const auto place = static_cast<std::size_t>(place_in(neighbours_, rank()));
  const bool even = std::all_of(hosts.begin(), hosts.end(), [&](const auto& host) {
    return host.size() == hosts.front().size();
  });
  if (even) lane_.emplace(*mesh_, lane_of(place));
  if (place == 0) leader_lane_.emplace(*mesh_, lane_of(0));
}

bool HierarchicalTransport::on_this_host(int rank) const {
  return std::find(neighbours_.begin(), neighbours_.end(), rank) != neighbours_.end();
}

/// While this rank waits for ranks of its host, ranks of other hosts may wait for it or be lost.
void HierarchicalTransport::look_beyond_the_host(bool in_collective) {
  mesh_->show_waiting();
  if (!in_collective) return;
  for (int rank = 0; rank < size(); ++rank)
    if (!on_this_host(rank)) mesh_->throw_if_failed(rank);
}

// ── Collectives ──────────────────────────────────────────────────────────────────────────────

void HierarchicalTransport::agree(const Fingerprint& call, const Deadline& deadline) {
  mesh_->agree(call, deadline);
}

void HierarchicalTransport::all_reduce(const Fingerprint& call, ArrayView data, ReduceOp op,
                                       const Deadline& deadline) {
  agree(call, deadline);
  Neighbours local(*local_->direct(), [this](const auto& body) { with_neighbours(body); });
  hierarchical_all_reduce({.local = local,
                           .rank = local_->rank(),
                           .ranks = local_->size(),
                           .world = size(),
                           .lane = lane_ ? &*lane_ : nullptr,
                           .leaders = leader_lane_ ? &*leader_lane_ : nullptr},
                          call, data, op, deadline);
}

Memory HierarchicalTransport::allocate(std::size_t bytes, const Fingerprint& call,
                                       const Deadline& deadline) {
  agree(call, deadline);
  Memory memory;
  std::exception_ptr failure;
  try {
    with_neighbours([&] { memory = local_->allocate(bytes, call, deadline); });
  } catch (const PeerLostError&) {
    throw;
  } catch (const TimeoutError&) {
    throw;
  } catch (const Error&) {  // a failure on another host, or on this one: the other hosts must learn
                            // of it
    failure = std::current_exception();
  }
  std::int32_t got = !failure;
  tree_all_reduce(*mesh_, {&got, 1, DataType::int32}, ReduceOp::min, deadline);
  if (failure) std::rethrow_exception(failure);
  if (got == 0)
    throw Error(fmt::format(
        "[{}] another host could not get {} bytes of shared memory for each of its ranks (see the "
        "errors of those ranks): free memory or raise the limits there, or use fewer workers or a "
        "smaller model",
        name_, bytes));
  return memory;
}

// ── Messages ─────────────────────────────────────────────────────────────────────────────────

std::shared_ptr<Request> HierarchicalTransport::start_send(int to, std::int32_t tag,
                                                           std::span<const std::byte> data) {
  if (on_this_host(to))
    return std::make_shared<RoutedRequest>(
        *local_, local_->start_send(place_in(neighbours_, to), tag, data));
  return std::make_shared<RoutedRequest>(*mesh_, mesh_->start_send(to, tag, data));
}

std::shared_ptr<Request> HierarchicalTransport::start_recv(int from, std::int32_t tag,
                                                           std::span<std::byte> data) {
  if (on_this_host(from))
    return std::make_shared<RoutedRequest>(
        *local_, local_->start_recv(place_in(neighbours_, from), tag, data));
  return std::make_shared<RoutedRequest>(*mesh_, mesh_->start_recv(from, tag, data));
}

void HierarchicalTransport::wait(Request& request, const Deadline& deadline) {
  auto& routed = static_cast<RoutedRequest&>(request);
  if (&routed.via == mesh_.get()) return mesh_->wait(*routed.inner, deadline);
  with_neighbours([&] { local_->wait(*routed.inner, deadline); });
}

bool HierarchicalTransport::done(Request& request) {
  auto& routed = static_cast<RoutedRequest&>(request);
  return routed.via.done(*routed.inner);
}

// ── Everything else ──────────────────────────────────────────────────────────────────────────

void HierarchicalTransport::abandon(std::exception_ptr why) {
  mesh_->abandon(why);
  local_->abandon(why);
}

std::unique_ptr<Transport> HierarchicalTransport::split(const Membership& part,
                                                        const WaitLimit& limit) {
  return std::make_unique<HierarchicalTransport>(run_, part, kind_, find_hosts(run_, part, limit),
                                                 limit);
}

void HierarchicalTransport::require_all_present() {
  local_->move_messages();
  mesh_->require_all_present();
}

BytesByPurpose HierarchicalTransport::bytes_moved() const {
  return added(mesh_->bytes_moved(), local_->bytes_moved());
}

double HierarchicalTransport::seconds_waited() const {
  return mesh_->seconds_waited() + local_->seconds_waited();
}

}  // namespace lockstep::internal::comm
