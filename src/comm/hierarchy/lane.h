// Lane: a subset of a network transport's ranks, one of each host, renumbered as a transport for
// collectives.
//
// It carries only messages of collectives; everything else belongs to the whole transport.
#pragma once

#include "base/check.h"
#include "comm/transport.h"

namespace lockstep::internal::comm {

class Lane : public Transport {
 public:
  /// `ranks` are the lane's ranks in `whole`. REQUIRES: `whole` outlives the lane; this rank is one
  /// of `ranks`.
  Lane(Transport& whole, std::vector<int> ranks);

  const Membership& membership() const override { return membership_; }
  std::string_view name() const override { return whole_.name(); }

  std::shared_ptr<Request> start_send(int to, std::int32_t tag,
                                      std::span<const std::byte> data) override {
    return whole_.start_send(ranks_[static_cast<std::size_t>(to)], tag, data);
  }
  std::shared_ptr<Request> start_recv(int from, std::int32_t tag,
                                      std::span<std::byte> data) override {
    return whole_.start_recv(ranks_[static_cast<std::size_t>(from)], tag, data);
  }
  void wait(Request& request, const Deadline& deadline) override { whole_.wait(request, deadline); }
  bool done(Request& request) override { return whole_.done(request); }

  void combine(ArrayView into, const void* from, ReduceOp op) override {
    whole_.combine(into, from, op);
  }

  void agree(const Fingerprint&, const Deadline&) override { refuse(); }
  Memory allocate(std::size_t, const Fingerprint&, const Deadline&) override { refuse(); }
  void abandon(std::exception_ptr) override { refuse(); }
  std::unique_ptr<Transport> split(const Membership&, const WaitLimit&) override { refuse(); }
  BytesByPurpose bytes_moved() const override { return {}; }
  double seconds_waited() const override { return 0; }

 private:
  [[noreturn]] static void refuse() {
    throw InternalError("a bug in Lockstep, please report it: a lane only carries messages");
  }

  Transport& whole_;
  const std::vector<int> ranks_;
  Membership membership_;
};

}  // namespace lockstep::internal::comm
