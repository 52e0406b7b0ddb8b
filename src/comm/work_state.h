// WorkState: the implementation of a Work.
#pragma once

#include "base/fork.h"
#include "base/thread_annotations.h"

#include <exception>
#include <memory>
#include <string_view>
#include <utility>

namespace lockstep::internal::comm {

/// Create it with make_shared_unless_forked: a forked child would wait for threads that it does not
/// have.
class WorkState {
 public:
  virtual ~WorkState() = default;
  virtual void wait() = 0;
  virtual bool done() = 0;

  /// False in a forked child, where no other member may be called.
  bool is_of_this_process() const { return owner_.is_this_one(); }

 private:
  const OwnerProcess owner_;
};

/// Detects whether the owning object is being destroyed by an exception thrown since it was made.
class UnwindingScope {
 public:
  bool left_by_exception() const { return std::uncaught_exceptions() > exceptions_; }

 private:
  const int exceptions_ = std::uncaught_exceptions();
};

/// Throws the error for a call in a forked child. `what` is the object it cannot use: "the group of
/// its rank".
[[noreturn]] void throw_in_child(std::string_view what);

/// State of an operation that another thread executes.
class PendingWork : public WorkState {
 public:
  /// Called once, by that thread; with the error if there was one.
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
  Mutex mutex_;
  Condition changed_;
  bool done_ GUARDED_BY(mutex_) = false;
  std::exception_ptr error_ GUARDED_BY(mutex_);
};

/// The user's handle to a PendingWork. If an exception destroys it, it waits for the operation's
/// end, because the operation's arrays are destroyed next.
class Submitted : public WorkState {
 public:
  explicit Submitted(std::shared_ptr<PendingWork> work) : work_(std::move(work)) {}
  ~Submitted() override {
    if (!scope_.left_by_exception()) return;
    try {
      work_->wait();
    } catch (...) {  // report the exception under way instead
    }
  }

  void wait() override { work_->wait(); }
  bool done() override { return work_->done(); }

 private:
  const std::shared_ptr<PendingWork> work_;
  const UnwindingScope scope_;
};

}  // namespace lockstep::internal::comm
