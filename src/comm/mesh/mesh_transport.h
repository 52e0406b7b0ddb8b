// MeshTransport: the transport between ranks that are connected only by a network. A wire (gloo,
// mpi) moves the bytes, the control mesh detects failures and mismatches, and the matcher pairs
// sends with receives.
#pragma once

#include "comm/mesh/control_mesh.h"
#include "comm/mesh/message_matcher.h"
#include "comm/transport.h"

#include <functional>
#include <map>
#include <memory>

namespace lockstep::internal::comm {

/// A kind of wire, and how to make one.
struct WireKind {
  std::string_view name;
  /// Number of connections between every two ranks; the first belongs to the control mesh.
  int channels = 1;
  std::function<std::unique_ptr<Wire>(const RunContext& run, const Membership& membership,
                                      std::vector<Peer>& peers, const WaitLimit& limit)>
      make;
};

class MeshTransport : public Transport {
 public:
  /// Joins the group and waits until all ranks have. Throws PeerLostError, TimeoutError or Error,
  /// and the exceptions of the limit's tick.
  MeshTransport(RunContext run, Membership membership, WireKind kind, const WaitLimit& limit);

  /// Leaves the group.
  ~MeshTransport() override;

  const Membership& membership() const override { return membership_; }
  std::string_view name() const override { return kind_.name; }

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
  NativeCollectives* native() override { return wire_->native(); }
  void watch(const Deadline& deadline) override;
  BytesByPurpose bytes_moved() const override { return sent_.bytes(); }
  double seconds_waited() const override { return control_->seconds_waited(); }

  /// Sets the function that is called while this rank waits; see ControlMesh.
  void while_waiting(std::function<bool()> move_others) {
    control_->while_waiting(std::move(move_others));
  }

  // For a rank that waits for an event outside this transport.
  /// Answers peers that ask whether this rank is waiting.
  void show_waiting();
  /// Throws PeerLostError if the peer is gone, unless it left normally.
  void throw_if_failed(int peer);
  /// Reports that the awaited rank was late. Throws another TimeoutError if that rank is itself
  /// waiting for a rank of this transport. Blocks briefly.
  void throw_if_another_is_late(const TimeoutError& late);

 private:
  void start_on_wire(MeshRequest& request, Slot slot);
  bool advance(MeshRequest& request, std::chrono::milliseconds slice);
  void follow_messages();
  void look_around(MeshRequest& request, const Deadline& deadline);
  [[noreturn]] void report_broken(const MeshRequest& request, const std::string& what);
  AwaitedMessage awaited_of(const MeshRequest& request) const;
  void throw_if_abandoned();

  const RunContext run_;
  const Membership membership_;
  const WireKind kind_;
  std::unique_ptr<Wire> wire_;
  std::unique_ptr<MessageMatcher> matcher_;
  std::unique_ptr<ControlMesh> control_;
  Fingerprint current_;               ///< the running collective, or the last one
  std::map<int, double> gone_since_;  ///< native collectives only: when each rank was found gone
  ByteCounter sent_;
  Mutex following_;  ///< taken before the matcher's lock and the mesh's, never after

  Mutex mutex_;
  std::exception_ptr error_ GUARDED_BY(mutex_);
};

}  // namespace lockstep::internal::comm
