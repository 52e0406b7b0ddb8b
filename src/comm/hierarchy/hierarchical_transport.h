// HierarchicalTransport: for ranks on several hosts, with several ranks on some. Traffic within a
// host uses shared memory, traffic between hosts uses a network transport that connects all ranks.
// collectives/hierarchical.h is the all-reduce for it.
#pragma once

#include "comm/hierarchy/lane.h"
#include "comm/mesh/mesh_transport.h"
#include "comm/shared/shared_transport.h"
#include "comm/transport.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::comm {

class HierarchicalTransport : public Transport, private HierarchicalCollectives {
 public:
  /// Joins the group and waits until all ranks have. `leaders` has, for every rank, the lowest rank
  /// on its host (find_hosts).
  HierarchicalTransport(RunContext run, const Membership& membership, WireKind kind,
                        std::vector<int> leaders, const WaitLimit& limit);
  ~HierarchicalTransport() override;

  const Membership& membership() const override { return mesh_->membership(); }
  std::string_view name() const override { return name_; }

  std::shared_ptr<Request> start_send(int to, std::int32_t tag,
                                      std::span<const std::byte> data) override;
  std::shared_ptr<Request> start_recv(int from, std::int32_t tag,
                                      std::span<std::byte> data) override;
  void wait(Request& request, const Deadline& deadline) override;
  bool done(Request& request) override;
  void agree(const Fingerprint& call, const Deadline& deadline) override;
  Memory allocate(std::size_t bytes, const Fingerprint& call, const Deadline& deadline) override;
  void abandon(std::exception_ptr why) override;
  std::unique_ptr<Transport> split(const Membership& part, const WaitLimit& limit) override;
  void require_all_present() override;
  HierarchicalCollectives* hierarchical() override { return this; }
  BytesByPurpose bytes_moved() const override;
  double seconds_waited() const override;

 private:
  void all_reduce(const Fingerprint& call, ArrayView data, ReduceOp op,
                  const Deadline& deadline) override;
  void make_lanes();
  void look_beyond_the_host(bool in_collective);
  bool on_this_host(int rank) const;
  /// Runs an operation that waits for ranks of this host. If those only wait for a rank of another
  /// host, the error names that rank.
  template <typename Body>
  void with_neighbours(const Body& body) {
    try {
      body();
    } catch (const WaitsTooError& late) {
      mesh_->throw_if_another_is_late(late);
      throw;
    }
  }

  const RunContext run_;
  const WireKind kind_;
  const std::string name_;
  const std::vector<int> leaders_;
  std::vector<int> neighbours_;  ///< the ranks of this host, including this one
  std::unique_ptr<MeshTransport> mesh_;
  std::unique_ptr<SharedTransport> local_;
  std::optional<Lane> lane_;  ///< the ranks with this place on every host, if every host has one
  std::optional<Lane> leader_lane_;  ///< the first rank of every host, if this rank is one
};

}  // namespace lockstep::internal::comm
