// What a Work refers to.
#pragma once

#include "base/fork.h"
#include "base/thread_annotations.h"

#include <exception>
#include <memory>
#include <string_view>
#include <utility>

namespace lockstep::comm {

/// Made with make_shared_unless_forked: a child would wait for threads that it does not have.
class WorkState {
 public:
  virtual ~WorkState() = default;
  virtual void wait() = 0;
  virtual bool done() = 0;

  /// False in a forked child, where nothing above may be called.
  bool is_of_this_process() const { return owner_.is_this_one(); }

 private:
  const OwnerProcess owner_;
};

/// Whether what it is a member of goes because of an exception that was thrown since it was made.
class UnwindingScope {
 public:
  bool left_by_exception() const { return std::uncaught_exceptions() > exceptions_; }

 private:
  const int exceptions_ = std::uncaught_exceptions();
};

/// For a call in a forked child. `what` is what it cannot use: "the group of its rank".
[[noreturn]] void throw_in_child(std::string_view what);

/// Of an operation that another thread carries out.
class PendingWork : public WorkState {
 public:
  /// By that thread, once; with the error if there was one.
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

/// What a user has of a PendingWork: if an exception drops it, the operation's arrays go next, so
/// it waits for the operation's end.
class Submitted : public WorkState {
 public:
  explicit Submitted(std::shared_ptr<PendingWork> work) : work_(std::move(work)) {}
  ~Submitted() override {
    if (!scope_.left_by_exception()) return;
    try {
      work_->wait();
    } catch (...) {  // the exception under way is the one to report
    }
  }

  void wait() override { work_->wait(); }
  bool done() override { return work_->done(); }

 private:
  const std::shared_ptr<PendingWork> work_;
  const UnwindingScope scope_;
};

}  // namespace lockstep::comm
