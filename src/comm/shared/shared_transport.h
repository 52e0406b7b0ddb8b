// SharedTransport: the transport over shared memory, of either kind of SharedSpace.
#pragma once

#include "comm/shared/direct.h"
#include "comm/shared/messenger.h"
#include "comm/shared/shared_barrier.h"
#include "comm/shared/shared_space.h"
#include "comm/transport.h"

#include <map>
#include <memory>
#include <vector>

namespace lockstep::internal::comm {

class SharedTransport : public Transport {
 public:
  /// Joins the group as `rank` and waits until all ranks have. Throws PeerLostError or
  /// TimeoutError, and the exceptions of the limit's tick.
  SharedTransport(std::unique_ptr<SharedSpace> space, Membership membership,
                  const WaitLimit& limit);

  /// Leaves the group.
  ~SharedTransport() override;

  const Membership& membership() const override { return membership_; }
  std::string_view name() const override { return space_->name(); }

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
  DirectCollectives* direct() override { return &direct_; }
  /// Sets the function that is called regularly while this rank waits; its argument tells whether
  /// the wait is in a collective. It throws to end the wait. REQUIRES: no thread waits.
  void while_waiting(std::function<void(bool in_collective)> tick) {
    messenger_.while_waiting(tick);
    barrier_.while_waiting(std::move(tick));
  }
  /// For a rank that waits for an event outside this transport: shows that it is waiting, and
  /// advances its messages. Returns true while some are still to be sent.
  bool move_messages() {
    show_waiting(group_memory_, rank_);
    return messenger_.move();
  }
  BytesByPurpose bytes_moved() const override;
  double seconds_waited() const override { return barrier_.seconds_waited(); }

 private:
  /// A result of Group::allocate: one block per rank, all mapped in this process.
  struct Region {
    std::size_t bytes = 0;
    std::vector<std::shared_ptr<std::byte>> blocks;
  };

  std::shared_ptr<Region> map_all(const OwnRegion& own, std::size_t bytes,
                                  std::exception_ptr& failure);
  void require_all(std::string_view could_not, std::size_t bytes) const;
  void leave();
  Location locate(const void* data, std::size_t bytes);
  std::byte* resolve(int rank, const Location& location);

  std::unique_ptr<SharedSpace> space_;
  const Membership membership_;
  const GroupMemory group_memory_;
  const int rank_;
  Messenger messenger_;
  SharedBarrier barrier_;
  SharedDirect direct_;
  Fingerprint current_;  ///< the call that all ranks agreed on last
  std::uint64_t last_region_ = Location::kStaged;
  std::map<std::uint64_t, std::weak_ptr<Region>> regions_;
};

}  // namespace lockstep::internal::comm
