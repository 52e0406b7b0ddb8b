#include "comm/mpi/mpi_wire.h"

#include "base/check.h"
#include "comm/mpi/mpi_collectives.h"
#include "comm/mpi/mpi_link.h"
#include "comm/mpi/mpi_transfer.h"

#include <algorithm>

namespace lockstep::internal::comm {

namespace {

/// A slot is a tag: MPI matches by sender and tag, in order, as the wire requires.
class MpiWire : public Wire {
 public:
  MpiWire(std::shared_ptr<MpiLink> link, int rank, int size, const MpiWireOptions& options)
      : link_(std::move(link)), collectives_(link_, rank, size), part_bytes_(options.part_bytes) {}

  std::string_view name() const override { return "mpi"; }

  std::shared_ptr<Transfer> send(int to, Slot slot, std::span<const std::byte> data) override {
    auto start = [&](std::size_t offset, int bytes, MPI_Request* request) {
      return MPI_Isend(data.data() + offset, bytes, MPI_BYTE, to, static_cast<int>(slot),
                       link_->communicator(), request);
    };
    return std::make_shared<MpiTransfer>(link_, data.size(), part_bytes_, start);
  }

  std::shared_ptr<Transfer> receive(int from, Slot slot, std::span<std::byte> data) override {
    auto start = [&](std::size_t offset, int bytes, MPI_Request* request) {
      return MPI_Irecv(data.data() + offset, bytes, MPI_BYTE, from, static_cast<int>(slot),
                       link_->communicator(), request);
    };
    return std::make_shared<MpiTransfer>(link_, data.size(), part_bytes_, start);
  }

  void close() override { link_->close(); }
  NativeCollectives* native() override { return &collectives_; }

 private:
  std::shared_ptr<MpiLink> link_;
  MpiCollectives collectives_;
  const std::size_t part_bytes_;
};

}  // namespace

std::unique_ptr<Wire> make_mpi_wire(const std::vector<int>& members, int rank,
                                    const std::string& group, const WaitLimit& limit,
                                    const MpiWireOptions& options) {
  const int world_rank = MpiRuntime::instance().world_rank();
  LOCKSTEP_CHECK(members.at(static_cast<std::size_t>(rank)) == world_rank,
                 "rank {} of group '{}' is rank {} of MPI's world", rank, group, world_rank);
  LOCKSTEP_CHECK(options.part_bytes > 0 && options.part_bytes <= std::size_t{1} << 30,
                 "parts of {} bytes", options.part_bytes);
  return std::make_unique<MpiWire>(MpiLink::meet(members, group, limit), rank,
                                   static_cast<int>(members.size()), options);
}

WireKind mpi_wire() {
  return {.name = "mpi",
          .channels = 1,
          .make = [](const RunContext&, const Membership& membership, std::vector<Peer>&,
                     const WaitLimit& limit) {
            return make_mpi_wire(membership.members, membership.rank, membership.group, limit);
          }};
}

}  // namespace lockstep::internal::comm
