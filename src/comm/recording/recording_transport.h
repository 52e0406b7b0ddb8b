// RecordingTransport: one rank of a hypothetical world. It moves no data and never waits, but
// records the steps of a collective: the peers, the bytes, the waits and the additions. Models and
// simulations therefore follow the collectives' own code.
//
// The arrays passed to collectives are neither read nor written, except by collectives that copy
// within their own rank's memory. Thread safety: one thread at a time.
#pragma once

#include "comm/hierarchy/lane.h"
#include "comm/recording/recorded_steps.h"
#include "comm/transport.h"

#include <memory>
#include <optional>

namespace lockstep::internal::comm {

class RecordingTransport : public Transport, private HierarchicalCollectives {
 public:
  /// With several ranks per host, it offers the direct algorithm if there is one host, and the
  /// hierarchical one otherwise.
  RecordingTransport(int rank, const RecordedWorld& world);
  ~RecordingTransport() override;

  /// All steps so far.
  const RecordedSteps& steps() const { return steps_; }

  const Membership& membership() const override { return membership_; }
  /// The transport name under which `auto` picks an algorithm.
  std::string_view name() const override {
    return world_.per_host > 1 && world_.hosts() == 1 ? "shm" : "gloo";
  }
  std::shared_ptr<Request> start_send(int to, std::int32_t tag,
                                      std::span<const std::byte> data) override;
  std::shared_ptr<Request> start_recv(int from, std::int32_t tag,
                                      std::span<std::byte> data) override;
  void wait(Request& request, const Deadline& deadline) override;
  bool done(Request&) override { return true; }
  void agree(const Fingerprint&, const Deadline&) override {}
  void combine(ArrayView into, const void* from, ReduceOp op) override;
  Memory allocate(std::size_t, const Fingerprint&, const Deadline&) override { refuse(); }
  void abandon(std::exception_ptr) override {}
  std::unique_ptr<Transport> split(const Membership&, const WaitLimit&) override { refuse(); }
  DirectCollectives* direct() override;
  HierarchicalCollectives* hierarchical() override;
  BytesByPurpose bytes_moved() const override { return sent_.bytes(); }
  double seconds_waited() const override { return 0; }

 private:
  class Host;
  [[noreturn]] static void refuse();

  void all_reduce(const Fingerprint& call, ArrayView data, ReduceOp op,
                  const Deadline& deadline) override;
  std::shared_ptr<Request> start(StepKind kind, int peer, std::size_t bytes);
  std::optional<Lane> lane_of(int place);

  const RecordedWorld world_;
  const Membership membership_;
  RecordedSteps steps_;
  const std::unique_ptr<Host> host_;
  std::int32_t messages_ = 0;
  ByteCounter sent_;
};

}  // namespace lockstep::internal::comm
