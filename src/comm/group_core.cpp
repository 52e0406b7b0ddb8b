#include "comm/group_core.h"

#include "base/check.h"
#include "comm/blame.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace lockstep::comm {

namespace {

/// The bytes that each rank gives. A fingerprint counts the elements of one rank's part.
std::uint64_t bytes_given(const Fingerprint& call, int ranks) {
  const std::uint64_t part = call.count * size_of(call.type);
  return call.operation == Operation::reduce_scatter ? part * static_cast<std::uint64_t>(ranks)
                                                     : part;
}

}  // namespace

template <typename Body>
void GroupCore::in_flight(const FlightRecord& record, const Body& body) {
  FlightEntry entry(recorder_, record);
  try {
    entry.ended(body());
  } catch (...) {
    entry.failed(failure_under_way());
    throw;
  }
}

/// An asynchronous collective.
class GroupCore::Task : public PendingWork {
 public:
  explicit Task(Collective collective) : collective_(std::move(collective)) {}

  const Collective& collective() const { return collective_; }

 private:
  const Collective collective_;
};

/// A send or receive. Its waits run on the waiter's thread.
class GroupCore::Message : public WorkState {
 public:
  Message(std::shared_ptr<GroupCore> core, std::shared_ptr<Request> request,
          const ObservedOperation& operation)
      : core_(std::move(core)), request_(std::move(request)), operation_(operation) {}

  void wait() override {
    const double start = now_seconds();
    double end = start;
    core_->guarded([&] {
      // From now on: only this keeps the rank from going on.
      FlightRecord record = core_->flight_record(operation_);
      record.begin = start;
      core_->in_flight(record, [&] {
        core_->transport().wait(*request_, core_->deadline());
        return end = now_seconds();
      });
    });
    if (counted_.exchange(true)) return;
    operation_.end = end;
    core_->count_operation(operation_, operation_.end - start);
  }

  bool done() override {
    bool done = true;
    try {
      core_->guarded([&] {
        try {
          done = core_->transport().done(*request_);
        } catch (...) {
          core_->note_failure(operation_);
          throw;
        }
      });
    } catch (...) {  // wait() throws it again
      return true;
    }
    return done;
  }

 private:
  const std::shared_ptr<GroupCore> core_;
  const std::shared_ptr<Request> request_;
  ObservedOperation operation_;  ///< its end is set by the first that waited
  std::atomic<bool> counted_{false};
};

GroupCore::GroupCore(std::unique_ptr<Transport> transport, const GroupOptions& options,
                     FlightRecorder* recorder)
    : transport_(std::move(transport)),
      options_(options),
      recorder_(recorder),
      group_mark_(group_mark(transport_->membership().group)) {}

GroupCore::~GroupCore() {
  std::thread thread;
  {
    Lock lock(mutex_);
    closing_ = true;
    changed_.notify_all();
    thread = std::move(thread_);
  }
  if (thread.joinable()) thread.join();
}

void GroupCore::run(Collective collective) {
  {
    // Holding running_ while looking keeps two callers from both finding nothing pending.
    Lock running(running_);
    {
      Lock lock(mutex_);
      if (queue_.empty() && !busy_) collective.call.sequence = ++last_sequence_;
    }
    if (collective.call.sequence > 0) return execute(collective);
  }
  submit(std::move(collective))->wait();
}

std::shared_ptr<WorkState> GroupCore::submit(Collective collective) {
  Lock lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { work_through_queue(); });
  collective.call.sequence = ++last_sequence_;
  auto task = std::make_shared<Task>(std::move(collective));
  queue_.push_back(task);
  changed_.notify_all();
  return task;
}

std::shared_ptr<WorkState> GroupCore::start(
    ObservedOperation message, const std::function<std::shared_ptr<Request>()>& start_request) {
  message.begin = now_seconds();
  std::shared_ptr<Request> request;
  guarded([&] {
    try {
      request = start_request();
    } catch (...) {
      note_failure(message);
      throw;
    }
  });
  return std::make_shared<Message>(shared_from_this(), std::move(request), message);
}

Counters GroupCore::counters() {
  Lock lock(mutex_);
  Counters counters = counters_;
  counters.bytes = transport_->bytes_moved();
  counters.wait_seconds = transport_->seconds_waited();
  if (const double since = running_since_; since > 0) counters.seconds += now_seconds() - since;
  return counters;
}

void GroupCore::observe(OperationObserver observer) {
  Lock observing(observing_);
  observer_ = std::move(observer);
  observed_ = static_cast<bool>(observer_);
}

void GroupCore::count_operation(const ObservedOperation& operation, double seconds) {
  {
    Lock lock(mutex_);
    ++counters_.operations;
    counters_.seconds += seconds;
    if (operation.peer < 0) running_since_ = 0;
  }
  if (!observed_) return;
  Lock observing(observing_);
  if (observer_) observer_(operation);
}

void GroupCore::guarded(const std::function<void()>& operation) {
  throw_if_broken();
  try {
    operation();
  } catch (...) {
    Lock leaving(leaving_);
    {
      Lock lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
    // At once, so that peers need not wait for the handle to go away.
    transport_->abandon(std::current_exception());
    throw;
  }
}

void GroupCore::throw_if_broken() {
  std::exception_ptr error;
  {
    Lock lock(mutex_);
    error = error_;
  }
  if (!error) return;
  // Whoever sees the error may free the arrays of other operations: by then nothing moves any more.
  Lock left(leaving_);
  std::rethrow_exception(error);
}

void GroupCore::execute(const Collective& collective) {
  const Fingerprint& call = collective.call;
  ObservedOperation operation{.name = name_of(call.operation),
                              .algorithm = call.algorithm,
                              .bytes = bytes_given(call, transport_->size()),
                              .begin = now_seconds()};
  running_since_ = operation.begin;
  // count_operation does so, too; here it is for a body that throws.
  struct Reset {
    std::atomic<double>& since;
    ~Reset() { since = 0; }
  } reset{running_since_};
  const double waited = transport_->seconds_waited();
  guarded([&] {
    FlightRecord record = flight_record(operation);
    record.operation = call.operation;
    record.sequence = call.sequence;
    record.bucket = collective.bucket;
    in_flight(record, [&] {
      collective.body(call);
      return operation.end = now_seconds();
    });
  });
  operation.wait = transport_->seconds_waited() - waited;
  count_operation(operation, operation.end - operation.begin);
}

FlightRecord GroupCore::flight_record(const ObservedOperation& operation) const {
  FlightRecord record{.algorithm = operation.algorithm,
                      .incoming = operation.name == "recv",
                      .group = group_mark_,
                      .bytes = operation.bytes,
                      .begin = operation.begin};
  if (operation.peer >= 0)
    record.peer = transport_->membership().members[static_cast<std::size_t>(operation.peer)];
  return record;
}

void GroupCore::note_failure(const ObservedOperation& message) {
  FlightRecord record = flight_record(message);
  record.begin = now_seconds();
  FlightEntry(recorder_, record).failed(failure_under_way());
}

FlightFailure GroupCore::failure_under_way() const {
  const std::exception_ptr error = std::current_exception();
  FlightFailure failure;
  try {
    std::rethrow_exception(error);
  } catch (const PeerLostError&) {
    failure.why = FlightFailure::Why::lost;
  } catch (const TimeoutError&) {
    failure.why = FlightFailure::Why::late;
  } catch (...) {
  }
  const Membership& membership = transport_->membership();
  const auto blamed =
      std::find(membership.labels.begin(), membership.labels.end(), blame_in(error).rank);
  if (blamed != membership.labels.end())
    failure.blamed =
        membership.members[static_cast<std::size_t>(blamed - membership.labels.begin())];
  return failure;
}

void GroupCore::work_through_queue() {
  for (;;) {
    std::shared_ptr<Task> task;
    {
      Lock lock(mutex_);
      while (queue_.empty() && !closing_) changed_.wait(mutex_);
      if (queue_.empty()) return;
      task = queue_.front();
      queue_.pop_front();
      busy_ = true;
    }
    std::exception_ptr error;
    try {
      Lock running(running_);
      execute(task->collective());
    } catch (...) {
      error = std::current_exception();
    }
    {
      Lock lock(mutex_);
      busy_ = false;
    }
    task->finish(error);
  }
}

Group make_group(std::unique_ptr<Transport> transport, const GroupOptions& options,
                 FlightRecorder* recorder) {
  return Group(std::make_shared<GroupCore>(std::move(transport), options, recorder));
}

}  // namespace lockstep::comm
