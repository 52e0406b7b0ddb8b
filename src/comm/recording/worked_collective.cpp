#include "comm/recording/worked_collective.h"

#include "base/check.h"
#include "base/thread.h"
#include "base/thread_annotations.h"
#include "comm/algorithms.h"
#include "comm/group_core.h"
#include "comm/transport.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <future>
#include <map>
#include <utility>

namespace lockstep::internal::comm {

namespace {

static_assert(sizeof(WorkedElement) == sizeof(std::int32_t));

/// A message, which both sides share. Its step is known when both have started it.
struct Delivery : Request {
  WorkedMessage message;
  std::span<std::byte> place;  ///< where the receiver wants it
  bool sent = false;
  bool received = false;
  int step = 0;
};

/// Matches the messages of all ranks. Thread safety: any.
class Exchange {
 public:
  /// Starts one side of the next message between two ranks. `clock` is the step of the last message
  /// that this side waited for, and `fill` adds what this side knows.
  template <typename Fill>
  std::shared_ptr<Delivery> start(bool sends, int from, int to, int clock, const Fill& fill) {
    Lock lock(mutex_);
    std::deque<std::shared_ptr<Delivery>>& unmatched = unmatched_[{from, to}];
    const auto mine = [&](const auto& its) { return sends ? !its->sent : !its->received; };
    auto found = std::find_if(unmatched.begin(), unmatched.end(), mine);
    if (found == unmatched.end())
      found = unmatched.insert(unmatched.end(), std::make_shared<Delivery>());
    std::shared_ptr<Delivery> delivery = *found;
    fill(*delivery);
    (sends ? delivery->sent : delivery->received) = true;
    delivery->step = std::max(delivery->step, clock + 1);
    if (delivery->sent && delivery->received) unmatched.erase(found);
    changed_.notify_all();
    return delivery;
  }

  bool done(const Delivery& delivery) {
    Lock lock(mutex_);
    throw_if_failed();
    return delivery.sent && delivery.received;
  }

  void wait(const Delivery& delivery) {
    Lock lock(mutex_);
    while (!delivery.sent || !delivery.received) {
      throw_if_failed();
      changed_.wait(mutex_);
    }
  }

  void fail() {
    Lock lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }

 private:
  void throw_if_failed() const REQUIRES_LOCK(mutex_) {
    if (failed_) throw InternalError("a bug in Lockstep, please report it: another rank failed");
  }

  Mutex mutex_;
  Condition changed_;
  /// By sender and receiver, in the order in which one side started them.
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<Delivery>>> unmatched_
      GUARDED_BY(mutex_);
  bool failed_ GUARDED_BY(mutex_) = false;
};

/// What one rank received, and its array over time.
struct RankRecording {
  std::vector<std::pair<int, WorkedMessage>> received;  ///< with the step
  std::vector<std::pair<int, WorkedArray>> arrays;      ///< after each change, with the step

  const WorkedArray& after(int step) const {
    const auto later = [step](const auto& its) { return its.first > step; };
    return std::prev(std::find_if(arrays.begin(), arrays.end(), later))->second;
  }
};

/// One rank. Thread safety: one thread at a time.
class WorkedTransport : public Transport {
 public:
  /// REQUIRES: the other arguments outlive the transport.
  WorkedTransport(int rank, int ranks, Exchange& exchange, std::span<WorkedElement> array,
                  RankRecording& recording)
      : membership_(Membership::world(rank, ranks)),
        exchange_(exchange),
        array_(array),
        recording_(recording) {
    note_array();
  }

  const Membership& membership() const override { return membership_; }
  std::string_view name() const override { return "example"; }

  std::shared_ptr<Request> start_send(int to, std::int32_t,
                                      std::span<const std::byte> data) override {
    LOCKSTEP_CHECK(data.empty() || is_in_array(data.data()), "rank {} sends from another array",
                   rank());
    sent_.add(data.size());
    return exchange_.start(true, rank(), to, clock_, [&](Delivery& delivery) {
      const auto* first = reinterpret_cast<const WorkedElement*>(data.data());
      delivery.message.from = rank();
      delivery.message.to = to;
      delivery.message.first = static_cast<std::size_t>(first - array_.data());
      delivery.message.elements.assign(first, first + data.size() / sizeof(WorkedElement));
    });
  }

  std::shared_ptr<Request> start_recv(int from, std::int32_t, std::span<std::byte> data) override {
    return exchange_.start(false, from, rank(), clock_, [&](Delivery& delivery) {
      delivery.message.added = !is_in_array(data.data());  // a buffer, to be added afterwards
      delivery.place = data;
    });
  }

  void wait(Request& request, const Deadline&) override {
    auto& delivery = static_cast<Delivery&>(request);
    exchange_.wait(delivery);
    clock_ = std::max(clock_, delivery.step);
    if (delivery.message.to != rank()) return;
    LOCKSTEP_CHECK(delivery.message.bytes() == delivery.place.size(), "rank {} expects {} bytes",
                   rank(), delivery.place.size());
    std::memcpy(delivery.place.data(), delivery.message.elements.data(), delivery.place.size());
    recording_.received.emplace_back(delivery.step, delivery.message);
    if (!delivery.message.added) note_array();
  }

  bool done(Request& request) override { return exchange_.done(static_cast<Delivery&>(request)); }
  void agree(const Fingerprint&, const Deadline&) override {}

  void combine(ArrayView into, const void* from, ReduceOp op) override {
    reduce_into(into, from, op);
    note_array();
  }

  Memory allocate(std::size_t, const Fingerprint&, const Deadline&) override { refuse(); }
  void abandon(std::exception_ptr) override { exchange_.fail(); }
  std::unique_ptr<Transport> split(const Membership&, const WaitLimit&) override { refuse(); }
  BytesByPurpose bytes_moved() const override { return sent_.bytes(); }
  double seconds_waited() const override { return 0; }

 private:
  [[noreturn]] static void refuse() {
    throw InternalError("a bug in Lockstep, please report it: an example only carries messages");
  }

  bool is_in_array(const std::byte* place) const {
    const std::span<const std::byte> bytes = std::as_bytes(array_);
    return std::less_equal<>()(bytes.data(), place) &&
           std::less<>()(place, bytes.data() + bytes.size());
  }

  void note_array() {
    recording_.arrays.emplace_back(clock_, WorkedArray(array_.begin(), array_.end()));
  }

  const Membership membership_;
  Exchange& exchange_;
  const std::span<WorkedElement> array_;
  RankRecording& recording_;
  int clock_ = 0;  ///< the step of the last message that this rank waited for
  ByteCounter sent_;
};

WorkedArray start_of(int rank, std::size_t elements) {
  WorkedArray array;
  for (std::size_t i = 0; i < elements; ++i)
    array.push_back({static_cast<std::uint16_t>(static_cast<std::size_t>(rank) * elements + i + 1),
                     static_cast<std::uint16_t>(1U << rank)});
  return array;
}

/// Runs one rank. Added as int32, both halves of an element are added at once: a sum has at most
/// 16 · 16 · 64 in its lower half, so nothing is carried into the upper half.
void run_rank(Algorithm algorithm, int rank, int ranks, Exchange& exchange, WorkedArray array,
              RankRecording& recording) {
  try {
    Group group =
        make_group(std::make_unique<WorkedTransport>(rank, ranks, exchange, array, recording), {});
    group.all_reduce({array.data(), array.size(), DataType::int32}, ReduceOp::sum, algorithm);
  } catch (...) {
    exchange.fail();
    throw;
  }
}

std::vector<RankRecording> run_all(Algorithm algorithm, const std::vector<WorkedArray>& start) {
  const auto ranks = static_cast<int>(start.size());
  Exchange exchange;
  std::vector<RankRecording> recordings(start.size());
  std::vector<std::future<void>> running;
  try {
    for (int rank = 0; rank < ranks; ++rank)
      running.push_back(call_on_thread("rank", [&, rank] {
        const auto own = static_cast<std::size_t>(rank);
        run_rank(algorithm, rank, ranks, exchange, start[own], recordings[own]);
      }));
    for (std::future<void>& rank : running) rank.get();
  } catch (...) {
    exchange.fail();  // no rank waits for one that was not started
    throw;
  }
  return recordings;
}

}  // namespace

bool WorkedCollective::is_complete(const WorkedElement& element) const {
  return element.ranks == (1U << start.size()) - 1;
}

WorkedCollective worked_all_reduce(Algorithm algorithm, int ranks, std::size_t elements) {
  LOCKSTEP_CHECK(
      ranks >= 2 && ranks <= kMostWorkedRanks && elements >= 1 && elements <= kMostWorkedElements,
      "{} ranks, {} elements", ranks, elements);
  require_algorithm(Operation::all_reduce, "all-reduce", algorithm, {}, "example");
  WorkedCollective result;
  for (int rank = 0; rank < ranks; ++rank) result.start.push_back(start_of(rank, elements));
  const std::vector<RankRecording> recordings = run_all(algorithm, result.start);
  for (const RankRecording& recording : recordings)
    for (const auto& [step, message] : recording.received) {
      result.steps.resize(std::max(result.steps.size(), static_cast<std::size_t>(step)));
      if (!message.elements.empty())
        result.steps[static_cast<std::size_t>(step) - 1].messages.push_back(message);
    }
  for (std::size_t at = 0; at < result.steps.size(); ++at) {
    WorkedStep& step = result.steps[at];
    std::sort(step.messages.begin(), step.messages.end(),
              [](const auto& one, const auto& other) { return one.from < other.from; });
    for (const RankRecording& recording : recordings)
      step.arrays.push_back(recording.after(static_cast<int>(at) + 1));
  }
  return result;
}

}  // namespace lockstep::internal::comm
