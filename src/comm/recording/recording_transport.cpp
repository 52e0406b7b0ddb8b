#include "comm/recording/recording_transport.h"

#include "comm/collectives/hierarchical.h"

namespace lockstep::internal::comm {

namespace {

struct RecordedMessage : Request {
  explicit RecordedMessage(std::int32_t number) : number(number) {}
  const std::int32_t number;
};

}  // namespace

/// The steps of `direct` among the ranks of a host: see docs/algorithms.md. Arrays are assumed to
/// be long and in the group's memory.
class RecordingTransport::Host : public DirectCollectives {
 public:
  Host(RecordedSteps& steps, const RecordedWorld& world) : steps_(steps), ranks_(world.per_host) {}

  void all_reduce(const Fingerprint&, ArrayView data, ReduceOp, const Deadline&) override {
    // Reads this rank's slice of the others' arrays, and writes the sums there.
    between_meetings(2 * others_of(data.bytes()) / ranks_, others_of(data.bytes()) / ranks_);
  }
  void reduce_scatter(const Fingerprint&, ConstArrayView, ArrayView mine, ReduceOp,
                      const Deadline&) override {
    between_meetings(others_of(mine.bytes()), others_of(mine.bytes()));
  }
  void all_gather(const Fingerprint&, ConstArrayView mine, ArrayView, const Deadline&) override {
    between_meetings(others_of(mine.bytes()), 0);
  }
  void broadcast(const Fingerprint&, ArrayView data, int, const Deadline&) override {
    between_meetings(data.bytes(), 0);
  }

 private:
  std::uint64_t others_of(std::uint64_t bytes) const { return (ranks_ - 1) * bytes; }

  void between_meetings(std::uint64_t copied, std::uint64_t added) {
    steps_.push_back({StepKind::meet, 0, 0});
    steps_.push_back({StepKind::copy, 0, copied});
    if (added > 0) steps_.push_back({StepKind::add, 0, added});
    steps_.push_back({StepKind::meet, 0, 0});
  }

  RecordedSteps& steps_;
  const std::uint64_t ranks_;
};

RecordingTransport::RecordingTransport(int rank, const RecordedWorld& world)
    : world_(world),
      membership_(Membership::world(rank, world.size)),
      host_(std::make_unique<Host>(steps_, world)) {}

RecordingTransport::~RecordingTransport() = default;

void RecordingTransport::refuse() {
  throw InternalError("a bug in Lockstep, please report it: a recording has no memory, no parts");
}

std::shared_ptr<Request> RecordingTransport::start(StepKind kind, int peer, std::size_t bytes) {
  steps_.push_back({kind, peer, bytes});
  return std::make_shared<RecordedMessage>(messages_++);
}

std::shared_ptr<Request> RecordingTransport::start_send(int to, std::int32_t,
                                                        std::span<const std::byte> data) {
  sent_.add(data.size());
  return start(StepKind::send, to, data.size());
}

std::shared_ptr<Request> RecordingTransport::start_recv(int from, std::int32_t,
                                                        std::span<std::byte> data) {
  return start(StepKind::receive, from, data.size());
}

void RecordingTransport::wait(Request& request, const Deadline&) {
  steps_.push_back({StepKind::wait, static_cast<RecordedMessage&>(request).number, 0});
}

void RecordingTransport::combine(ArrayView into, const void*, ReduceOp) {
  steps_.push_back({StepKind::add, 0, into.bytes()});
}

DirectCollectives* RecordingTransport::direct() {
  return world_.per_host > 1 && world_.hosts() == 1 ? host_.get() : nullptr;
}

HierarchicalCollectives* RecordingTransport::hierarchical() {
  return world_.per_host > 1 && world_.hosts() > 1 ? this : nullptr;
}

std::optional<Lane> RecordingTransport::lane_of(int place) {
  if (rank() % world_.per_host != place) return std::nullopt;
  std::vector<int> ranks;
  for (int host = 0; host < world_.hosts(); ++host) ranks.push_back(host * world_.per_host + place);
  return std::optional<Lane>(std::in_place, *this, std::move(ranks));
}

void RecordingTransport::all_reduce(const Fingerprint& call, ArrayView data, ReduceOp op,
                                    const Deadline& deadline) {
  const int place = rank() % world_.per_host;
  std::optional<Lane> lane = lane_of(place);
  std::optional<Lane> leaders = lane_of(0);
  hierarchical_all_reduce({.local = *host_,
                           .rank = place,
                           .ranks = world_.per_host,
                           .world = world_.size,
                           .lane = &*lane,
                           .leaders = leaders ? &*leaders : nullptr},
                          call, data, op, deadline);
}

}  // namespace lockstep::internal::comm
