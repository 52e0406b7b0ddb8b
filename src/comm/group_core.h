// GroupCore: what is behind a Group. It numbers the collectives, checks their arguments, picks
// algorithms, runs asynchronous ones in order on a thread of its own, and remembers the error that
// broke the group.
#pragma once

#include <lockstep/group.h>

#include "base/fork.h"
#include "base/thread_annotations.h"
#include "comm/flight/bucket_mark.h"
#include "comm/flight/flight_recorder.h"
#include "comm/transport.h"
#include "comm/work_state.h"

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <thread>

namespace lockstep::comm {

/// A forked child may only ask for the transport's name, rank and size: all else throws UsageError.
class GroupCore : public std::enable_shared_from_this<GroupCore> {
 public:
  /// The recorder, if there is one, outlives the core.
  GroupCore(std::unique_ptr<Transport> transport, const GroupOptions& options,
            FlightRecorder* recorder);

  /// Ends what was started, then leaves the group.
  ~GroupCore();

  Transport& transport() { return *transport_; }
  const GroupOptions& options() const { return options_; }
  FlightRecorder* recorder() const { return recorder_; }
  Deadline deadline() const { return Deadline::after(options_.timeout); }

  /// A collective. Its body is given the call with its place in the group's order; it must not own
  /// the core, whose destructor waits for it.
  struct Collective {
    Fingerprint call;
    std::function<void(const Fingerprint& call)> body;
    Bucketed mark = marked;
  };

  /// On the caller's thread if nothing is pending, else in its turn.
  void run(Collective collective);
  /// If an exception drops the state before the collective has ended, that waits for its end: the
  /// collective's arrays go next.
  std::shared_ptr<WorkState> submit(Collective collective);

  /// A send or receive; not in the collectives' order. `message` has all but its times.
  std::shared_ptr<WorkState> start(ObservedOperation message,
                                   const std::function<std::shared_ptr<Request>()>& start_request);

  /// For a sync method whose buckets are reduced here. All ranks make the same ones, in the same
  /// order, so they have the same numbers.
  BucketOwner new_bucket_owner() { return {this, ++last_stream_}; }

  Counters counters();
  void observe(OperationObserver observer);

 private:
  class Task;
  class Message;

  std::shared_ptr<Task> enqueue(Collective collective);

  /// Runs `operation`, unless the group is broken already; whatever it throws breaks the group.
  /// When it has thrown, nothing of this group touches any array: whoever sees the error may free
  /// them.
  void guarded(const std::function<void()>& operation);
  void throw_if_broken();
  /// REQUIRES: the transport was abandoned, which ends the collective soon.
  void await_end_of_collective();
  /// To be called before any lock is taken: in a child, locks may be held by threads it lacks.
  void throw_if_forked() const;
  void execute(const Collective& collective);
  FlightRecord flight_record(const ObservedOperation& operation) const;
  /// Runs `body`, which returns when it ended, as an operation that the recorder knows of.
  template <typename Body>
  void in_flight(const FlightRecord& record, const Body& body);
  /// What failed before anybody waited: its peer is seen to be lost, for instance.
  void note_failure(const ObservedOperation& message);
  FlightFailure failure_under_way() const;
  /// Of messages only the time that their waiter waited counts.
  void count_operation(const ObservedOperation& operation, double seconds);
  /// Its place in the group's order, and what it is for.
  void number(Collective& collective) REQUIRES_LOCK(mutex_);
  void work_through_queue();

  const OwnerProcess owner_;
  const std::unique_ptr<Transport> transport_;
  const GroupOptions options_;
  FlightRecorder* const recorder_;
  const std::uint32_t group_mark_;

  Mutex running_;  ///< held by whoever executes a collective; taken before mutex_, never after

  std::atomic<std::thread::id> executing_;  ///< the thread that holds running_, in a collective

  Mutex observing_;  ///< held while the observer is told; taken before no other
  OperationObserver observer_ GUARDED_BY(observing_);
  std::atomic<bool> observed_{false};  ///< there is an observer

  std::atomic<std::uint32_t> last_stream_{0};

  /// When the collective under way began; 0 between them. Set to 0 with mutex_ held.
  std::atomic<double> running_since_{0};

  /// Held while the transport is abandoned; taken after running_ and before mutex_.
  Mutex leaving_;

  Mutex mutex_;
  Condition changed_;
  std::deque<std::shared_ptr<Task>> queue_ GUARDED_BY(mutex_);
  bool busy_ GUARDED_BY(mutex_) = false;  ///< the thread executes a task
  bool closing_ GUARDED_BY(mutex_) = false;
  std::uint64_t last_sequence_ GUARDED_BY(mutex_) = 0;
  std::exception_ptr error_ GUARDED_BY(mutex_);
  Counters counters_ GUARDED_BY(mutex_);
  std::thread thread_ GUARDED_BY(mutex_);  ///< started with the first asynchronous collective
};

/// The Group that a transport's rank is a member of. Its operations are recorded where there is a
/// recorder.
Group make_group(std::unique_ptr<Transport> transport, const GroupOptions& options,
                 FlightRecorder* recorder = nullptr);

}  // namespace lockstep::comm
