// SharedTransport: the transport over memory that all ranks see, whatever that memory is
// (SharedSpace).
#pragma once

#include "comm/shared/direct.h"
#include "comm/shared/meeting.h"
#include "comm/shared/messenger.h"
#include "comm/shared/shared_space.h"
#include "comm/transport.h"

#include <map>
#include <memory>
#include <vector>

namespace lockstep::comm {

class SharedTransport : public Transport {
 public:
  /// Joins the group as `rank` and waits until all ranks have. Throws PeerLostError or
  /// TimeoutError, and what the limit's tick throws.
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
  /// Called now and then while this rank waits, and told whether it does so in a collective; throws
  /// to end the waiting. Set it while nobody waits.
  void while_waiting(std::function<void(bool in_collective)> tick) {
    messenger_.while_waiting(tick);
    meeting_.while_waiting(std::move(tick));
  }
  /// For a rank that waits for something that is not on this transport: shows that it waits, and
  /// moves its messages; true while some are still to be sent.
  bool move_messages() {
    show_waiting(board_, rank_);
    return messenger_.move();
  }
  std::uint64_t bytes_moved() const override;
  double seconds_waited() const override { return meeting_.seconds_waited(); }

 private:
  /// What Group::allocate made: one block a rank, all mapped here.
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
  const Blackboard board_;
  const int rank_;
  Messenger messenger_;
  Meeting meeting_;
  SharedDirect direct_;
  Fingerprint current_;  ///< that all ranks agreed on last
  std::uint64_t last_region_ = Location::kStaged;
  std::map<std::uint64_t, std::weak_ptr<Region>> regions_;
};

}  // namespace lockstep::comm
