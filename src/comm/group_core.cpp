#include "comm/group_core.h"

#include "base/check.h"
#include "comm/failure_attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace lockstep::internal::comm {

namespace {

/// The bytes of each rank's array. A fingerprint counts the elements of one rank's part.
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

  /// If an exception destroys it, its array is destroyed next. Waiting for the peer could take
  /// long, and no thread would receive the message in its order any more: so this rank leaves the
  /// group.
  ~Message() override {
    if (!scope_.left_by_exception() || done()) return;
    try {
      core_->guarded([&] {
        throw Error(fmt::format(
            "[{}] rank {} has left the group: an exception ended the code that waited for a {} "
            "in progress",
            core_->transport().name(), core_->transport().membership().label(), operation_.name));
      });
    } catch (...) {  // report the exception under way instead
    }
  }

  void wait() override {
    const double start = now_seconds();
    double end = start;
    core_->guarded([&] {
      // From now on, this wait is all that blocks the rank.
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
  ObservedOperation operation_;  ///< the first waiter sets its end
  std::atomic<bool> counted_{false};
  const UnwindingScope scope_;
};

GroupCore::GroupCore(std::unique_ptr<Transport> transport, const GroupOptions& options,
                     FlightRecorder* recorder)
    : transport_(std::move(transport)),
      options_(options),
      recorder_(recorder),
      group_mark_(group_mark(transport_->membership().group)) {}

GroupCore::~GroupCore() {
  Lock lock(mutex_);
  closing_ = true;
  changed_.notify_all();
}

void GroupCore::throw_if_forked() const {
  if (!owner_.is_this_one()) throw_in_child("the group of its parent");
}

void GroupCore::run(Collective collective) {
  throw_if_forked();
  {
    // running_ is held while looking, so that two callers cannot both find nothing pending.
    Lock running(running_);
    {
      Lock lock(mutex_);
      if (queue_.empty() && !busy_) number(collective);
    }
    if (collective.call.sequence > 0) return execute(collective);
  }
  enqueue(std::move(collective))->wait();
}

void GroupCore::number(Collective& collective) {
  collective.call.sequence = ++last_sequence_;
  if (collective.mark.owner.group != this) return;
  collective.call.stream = collective.mark.owner.stream;
  collective.call.bucket = collective.mark.bucket;
}

std::shared_ptr<WorkState> GroupCore::submit(Collective collective) {
  throw_if_forked();
  return make_shared_unless_forked<Submitted>(enqueue(std::move(collective)));
}

std::shared_ptr<GroupCore::Task> GroupCore::enqueue(Collective collective) {
  Lock lock(mutex_);
  if (!thread_.joinable()) thread_ = Thread("collectives", [this] { work_through_queue(); });
  number(collective);
  auto task = make_shared_unless_forked<Task>(std::move(collective));
  queue_.push_back(task);
  changed_.notify_all();
  return task;
}

std::shared_ptr<WorkState> GroupCore::start(
    ObservedOperation message, const std::function<std::shared_ptr<Request>()>& start_request) {
  throw_if_forked();
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
  return make_shared_unless_forked<Message>(shared_from_this(), std::move(request), message);
}

Counters GroupCore::counters() {
  throw_if_forked();
  Lock lock(mutex_);
  Counters counters = counters_;
  counters.bytes = total(transport_->bytes_moved());
  counters.wait_seconds = transport_->seconds_waited();
  if (const double since = running_since_; since > 0) counters.seconds += now_seconds() - since;
  return counters;
}

void GroupCore::observe(OperationObserver observer) {
  throw_if_forked();
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
    {
      Lock leaving(leaving_);
      {
        Lock lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
      // At once, so that peers do not wait until the handle is destroyed.
      transport_->abandon(std::current_exception());
    }
    await_end_of_collective();
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
  { Lock left(leaving_); }
  await_end_of_collective();
  std::rethrow_exception(error);
}

void GroupCore::await_end_of_collective() {
  if (executing_ != std::this_thread::get_id()) Lock running(running_);
}

void GroupCore::execute(const Collective& collective) {
  const Fingerprint& call = collective.call;
  ObservedOperation operation{.name = name_of(call.operation),
                              .algorithm = call.algorithm,
                              .bytes = bytes_given(call, transport_->size()),
                              .begin = now_seconds()};
  running_since_ = operation.begin;
  executing_ = std::this_thread::get_id();
  // count_operation records the first one too; this is for a body that throws.
  struct Reset {
    GroupCore& core;
    ~Reset() {
      core.running_since_ = 0;
      core.executing_ = std::thread::id();
    }
  } reset{*this};
  const double waited = transport_->seconds_waited();
  guarded([&] {
    FlightRecord record = flight_record(operation);
    record.operation = call.operation;
    record.sequence = call.sequence;
    record.bucket = collective.mark.bucket;
    in_flight(record, [&] {
      const PurposeMark mark(collective.purpose);
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
      std::find(membership.labels.begin(), membership.labels.end(), culprit_in(error).rank);
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
  return Group(make_shared_unless_forked<GroupCore>(std::move(transport), options, recorder));
}

}  // namespace lockstep::internal::comm
