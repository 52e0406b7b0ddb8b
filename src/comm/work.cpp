#include <lockstep/error.h>
#include <lockstep/work.h>

#include "base/thread_annotations.h"
#include "comm/work_state.h"

#include <fmt/format.h>

#include <unistd.h>

#include <exception>
#include <utility>

namespace lockstep {

using namespace internal;

namespace {

/// One operation, and the function to call when it has ended.
class Continued : public comm::WorkState {
 public:
  Continued(Work first, std::function<void()> next)
      : next_(std::move(next)), first_(std::move(first)) {}

  void wait() override {
    Lock lock(mutex_);
    if (!ended_) end();
    if (error_) std::rethrow_exception(error_);
  }

  bool done() override { return first_.done(); }

 private:
  void end() REQUIRES_LOCK(mutex_) {
    try {
      first_.wait();
      next_();
    } catch (...) {
      error_ = std::current_exception();
    }
    ended_ = true;
    next_ = nullptr;  // it may own arrays
  }

  Mutex mutex_;
  std::function<void()> next_ GUARDED_BY(mutex_);
  Work first_;
  bool ended_ GUARDED_BY(mutex_) = false;
  std::exception_ptr error_ GUARDED_BY(mutex_);
};

}  // namespace

void internal::comm::throw_in_child(std::string_view what) {
  throw UsageError(
      fmt::format("process {} was forked from a rank and cannot use {}: only the process that "
                  "joined the group can. Let the child exec a program, or end",
                  ::getpid(), what));
}

void Work::wait() {
  if (!state_) return;
  if (!state_->is_of_this_process()) comm::throw_in_child("operations that its parent started");
  state_->wait();
}

bool Work::done() const {
  return !state_ || !state_->is_of_this_process() || state_->done();
}

Work Work::then(std::function<void()> next) const {
  return Work(make_shared_unless_forked<Continued>(*this, std::move(next)));
}

}  // namespace lockstep
