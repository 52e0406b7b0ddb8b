#include "comm/group_core.h"

#include "base/check.h"

#include <atomic>
#include <utility>

namespace lockstep::comm {

/// An asynchronous collective.
class GroupCore::Task : public WorkState {
 public:
  Task(Collective collective, std::uint64_t sequence)
      : collective_(std::move(collective)), sequence_(sequence) {}

  const Collective& collective() const { return collective_; }
  std::uint64_t sequence() const { return sequence_; }

  void finish(std::exception_ptr error) {
    Lock lock(mutex_);
    done_ = true;
    error_ = std::move(error);
    changed_.notify_all();
  }

  void wait() override {
    Lock lock(mutex_);
    while (!done_) changed_.wait(mutex_);
    if (error_) std::rethrow_exception(error_);
  }

  bool done() override {
    Lock lock(mutex_);
    return done_;
  }

 private:
  const Collective collective_;
  const std::uint64_t sequence_;

  Mutex mutex_;
  Condition changed_;
  bool done_ GUARDED_BY(mutex_) = false;
  std::exception_ptr error_ GUARDED_BY(mutex_);
};

/// A send or receive. Its waits run on the waiter's thread.
class GroupCore::Message : public WorkState {
 public:
  Message(std::shared_ptr<GroupCore> core, std::shared_ptr<Request> request)
      : core_(std::move(core)), request_(std::move(request)) {}

  void wait() override {
    const double start = now_seconds();
    core_->guarded([&] { core_->transport().wait(*request_, core_->deadline()); });
    if (!counted_.exchange(true)) core_->count_operation(now_seconds() - start);
  }

  bool done() override {
    bool done = true;
    try {
      core_->guarded([&] { done = core_->transport().done(*request_); });
    } catch (...) {  // wait() throws it again
      return true;
    }
    return done;
  }

 private:
  const std::shared_ptr<GroupCore> core_;
  const std::shared_ptr<Request> request_;
  std::atomic<bool> counted_{false};
};

GroupCore::GroupCore(std::unique_ptr<Transport> transport, const GroupOptions& options)
    : transport_(std::move(transport)), options_(options) {}

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
    std::uint64_t sequence = 0;
    {
      Lock lock(mutex_);
      if (queue_.empty() && !busy_) sequence = ++last_sequence_;
    }
    if (sequence > 0) return execute(collective, sequence);
  }
  submit(std::move(collective))->wait();
}

std::shared_ptr<WorkState> GroupCore::submit(Collective collective) {
  Lock lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { work_through_queue(); });
  auto task = std::make_shared<Task>(std::move(collective), ++last_sequence_);
  queue_.push_back(task);
  changed_.notify_all();
  return task;
}

std::shared_ptr<WorkState> GroupCore::start(
    std::function<std::shared_ptr<Request>()> start_request) {
  std::shared_ptr<Request> request;
  guarded([&] { request = start_request(); });
  return std::make_shared<Message>(shared_from_this(), std::move(request));
}

Counters GroupCore::counters() {
  Lock lock(mutex_);
  Counters counters = counters_;
  counters.bytes = transport_->bytes_moved();
  counters.wait_seconds = transport_->seconds_waited();
  return counters;
}

void GroupCore::count_operation(double seconds) {
  Lock lock(mutex_);
  ++counters_.operations;
  counters_.seconds += seconds;
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

void GroupCore::execute(const Collective& collective, std::uint64_t sequence) {
  const double start = now_seconds();
  guarded([&] { collective(sequence); });
  count_operation(now_seconds() - start);
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
      execute(task->collective(), task->sequence());
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

Group make_group(std::unique_ptr<Transport> transport, const GroupOptions& options) {
  return Group(std::make_shared<GroupCore>(std::move(transport), options));
}

}  // namespace lockstep::comm
