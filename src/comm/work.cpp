#include <lockstep/work.h>

#include "base/thread_annotations.h"
#include "comm/work_state.h"

#include <exception>
#include <utility>

namespace lockstep {

namespace {

/// One operation, and what is to be done once it has ended.
class Continued : public comm::WorkState {
 public:
  Continued(Work first, std::function<void()> next)
      : first_(std::move(first)), next_(std::move(next)) {}

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

  Work first_;
  Mutex mutex_;
  std::function<void()> next_ GUARDED_BY(mutex_);
  bool ended_ GUARDED_BY(mutex_) = false;
  std::exception_ptr error_ GUARDED_BY(mutex_);
};

}  // namespace

void Work::wait() {
  if (state_) state_->wait();
}

bool Work::done() const {
  return !state_ || state_->done();
}

Work Work::then(std::function<void()> next) const {
  return Work(std::make_shared<Continued>(*this, std::move(next)));
}

}  // namespace lockstep
