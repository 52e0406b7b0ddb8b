// MeshTransport: the transport between ranks that share nothing but a network. A wire (gloo, mpi)
// moves the bytes; the control mesh makes it safe; the mailroom matches messages.
#pragma once

#include "comm/mesh/control_mesh.h"
#include "comm/mesh/mailroom.h"
#include "comm/transport.h"

#include <functional>
#include <map>
#include <memory>

namespace lockstep::comm {

/// A kind of wire: how to make one.
struct WireKind {
  std::string_view name;
  /// Connections that each two ranks need; the first is the control mesh's.
  int channels = 1;
  std::function<std::unique_ptr<Wire>(const RunContext& run, const Membership& membership,
                                      std::vector<Peer>& peers, const WaitLimit& limit)>
      make;
};

class MeshTransport : public Transport {
 public:
  /// Joins the group and waits until all ranks have. Throws PeerLostError, TimeoutError or Error,
  /// and what the limit's tick throws.
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
  std::uint64_t bytes_moved() const override { return bytes_sent_.load(std::memory_order_relaxed); }
  double seconds_waited() const override { return control_->seconds_waited(); }

  /// Called while this rank waits; see ControlMesh.
  void while_waiting(std::function<bool()> move_others) {
    control_->while_waiting(std::move(move_others));
  }

  // For a rank that waits for something that is not on this transport.
  /// Shows peers that ask that this rank waits.
  void show_waiting();
  /// Throws PeerLostError if the peer is gone, and not of its own accord.
  void throw_if_failed(int peer);
  /// The rank that it waited for was late. Throws another TimeoutError if that one only waits for
  /// another of this transport. Takes a moment.
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
  std::unique_ptr<Mailroom> mailroom_;
  std::unique_ptr<ControlMesh> control_;
  Fingerprint current_;               ///< the collective under way, or the last one
  std::map<int, double> gone_since_;  ///< during native collectives: when ranks were found gone
  std::atomic<std::uint64_t> bytes_sent_{0};
  Mutex following_;  ///< taken before the mailroom's lock and the mesh's, never after

  Mutex mutex_;
  std::exception_ptr error_ GUARDED_BY(mutex_);
};

}  // namespace lockstep::comm
