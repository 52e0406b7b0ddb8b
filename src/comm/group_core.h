// GroupCore: the implementation of a Group. It numbers the collectives, checks their arguments,
// picks algorithms, runs asynchronous collectives in order on its own thread, and stores the error
// that broke the group.
#pragma once

#include <lockstep/group.h>

#include "base/fork.h"
#include "base/thread.h"
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

namespace lockstep::internal::comm {

/// In a forked child only the transport's name, rank and size may be used: everything else throws
/// UsageError.
class GroupCore : public std::enable_shared_from_this<GroupCore> {
 public:
  /// REQUIRES: the recorder, if not null, outlives the core.
  GroupCore(std::unique_ptr<Transport> transport, const GroupOptions& options,
            FlightRecorder* recorder);

  /// Finishes pending operations, then leaves the group.
  ~GroupCore();

  Transport& transport() { return *transport_; }
  const GroupOptions& options() const { return options_; }
  FlightRecorder* recorder() const { return recorder_; }
  Deadline deadline() const { return Deadline::after(options_.timeout); }

  /// A collective. Its body receives the call with its position in the group's order. The body must
  /// not own the core, whose destructor waits for it.
  struct Collective {
    Fingerprint call;
    std::function<void(const Fingerprint& call)> body;
    Bucketed mark = marked;
    Purpose purpose = current_purpose;
  };

  /// Runs on the caller's thread if nothing is pending, else in its turn.
  void run(Collective collective);
  /// If an exception destroys the returned state before the collective has ended, the destructor
  /// waits for its end, because the collective's arrays are destroyed next.
  std::shared_ptr<WorkState> submit(Collective collective);

  /// A send or receive; not ordered with collectives. `message` has every field but the times.
  std::shared_ptr<WorkState> start(ObservedOperation message,
                                   const std::function<std::shared_ptr<Request>()>& start_request);

  /// The number of a sync method whose buckets are reduced on this group. All ranks create their
  /// sync methods in the same order, so the numbers agree.
  BucketOwner new_bucket_owner() { return {this, ++last_stream_}; }

  Counters counters();
  /// The parts of the counters' bytes. Any thread.
  BytesByPurpose bytes_by_purpose() const { return transport_->bytes_moved(); }
  void observe(OperationObserver observer);

 private:
  class Task;
  class Message;

  std::shared_ptr<Task> enqueue(Collective collective);

  /// Runs `operation`, unless the group is broken already; any exception breaks the group. After
  /// the exception, no operation of this group touches any array, so that callers may free them.
  void guarded(const std::function<void()>& operation);
  void throw_if_broken();
  /// REQUIRES: the transport was abandoned, which ends the running collective soon.
  void await_end_of_collective();
  /// REQUIRES: no lock is held. In a child, locks may be held by threads that do not exist there.
  void throw_if_forked() const;
  void execute(const Collective& collective);
  FlightRecord flight_record(const ObservedOperation& operation) const;
  /// Runs `body`, which returns its end time, as an operation in the recorder.
  template <typename Body>
  void in_flight(const FlightRecord& record, const Body& body);
  /// Records a message that failed before any thread waited for it, for example because its peer is
  /// lost.
  void note_failure(const ObservedOperation& message);
  FlightFailure failure_under_way() const;
  /// For messages, only the time that a thread waited counts.
  void count_operation(const ObservedOperation& operation, double seconds);
  /// Fills in the call's position in the group's order and its bucket.
  void number(Collective& collective) REQUIRES_LOCK(mutex_);
  void work_through_queue();

  const OwnerProcess owner_;
  const std::unique_ptr<Transport> transport_;
  const GroupOptions options_;
  FlightRecorder* const recorder_;
  const std::uint32_t group_mark_;

  Mutex running_;  ///< held while a collective executes; taken before mutex_, never after

  std::atomic<std::thread::id> executing_;  ///< the thread that holds running_, in a collective

  Mutex observing_;  ///< held while the observer is called; taken before no other lock
  OperationObserver observer_ GUARDED_BY(observing_);
  std::atomic<bool> observed_{false};  ///< whether an observer is set

  std::atomic<std::uint32_t> last_stream_{0};

  /// Start time of the running collective; 0 if none runs. Set to 0 with mutex_ held.
  std::atomic<double> running_since_{0};

  /// Held while the transport is abandoned; taken after running_ and before mutex_.
  Mutex leaving_;

  Mutex mutex_;
  Condition changed_;
  std::deque<std::shared_ptr<Task>> queue_ GUARDED_BY(mutex_);
  bool busy_ GUARDED_BY(mutex_) = false;  ///< the thread is executing a task
  bool closing_ GUARDED_BY(mutex_) = false;
  std::uint64_t last_sequence_ GUARDED_BY(mutex_) = 0;
  std::exception_ptr error_ GUARDED_BY(mutex_);
  Counters counters_ GUARDED_BY(mutex_);
  Thread thread_ GUARDED_BY(mutex_);  ///< started with the first asynchronous collective
};

/// Makes a Group over a transport. Its operations are recorded if `recorder` is not null.
Group make_group(std::unique_ptr<Transport> transport, const GroupOptions& options,
                 FlightRecorder* recorder = nullptr);

}  // namespace lockstep::internal::comm
