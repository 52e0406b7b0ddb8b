// A handle on an operation that was started and may not have ended.
#pragma once

#include <functional>
#include <memory>

namespace lockstep {

namespace comm {
class WorkState;
}

/// A small value; copies refer to the same operation. An empty Work is done.
///
/// The arrays given to the operation belong to it until wait() has returned or thrown. Dropping the
/// last handle without waiting neither cancels the operation nor reports its error. An exception
/// that drops it is another matter, since the arrays often go next: that waits for the end of a
/// collective, and leaves the group if a message is under way. Declare a Work after its arrays.
class Work {
 public:
  Work() = default;
  explicit Work(std::shared_ptr<comm::WorkState> state) : state_(std::move(state)) {}

  /// Blocks until the operation has ended, and rethrows the error if it failed. Any thread.
  void wait();

  /// A Work that ends when `next` has been run after this one has ended well. The first wait() runs
  /// it, on the waiter's thread; what it throws, every wait() throws.
  Work then(std::function<void()> next) const;

  /// True once wait() would return or throw at once, but for the time that then()'s functions take.
  /// Any thread.
  bool done() const;

 private:
  std::shared_ptr<comm::WorkState> state_;
};

}  // namespace lockstep
