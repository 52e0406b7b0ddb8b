// What a Work refers to.
#pragma once

#include "base/thread_annotations.h"

#include <exception>
#include <utility>

namespace lockstep::comm {

class WorkState {
 public:
  virtual ~WorkState() = default;
  virtual void wait() = 0;
  virtual bool done() = 0;
};

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

}  // namespace lockstep::comm
