// Work: a handle on an operation that was started and may not have ended.
#pragma once

#include <functional>
#include <memory>

namespace lockstep {

namespace internal::comm {
class WorkState;
}

/// An operation that was started. A small value; copies refer to the same operation. A
/// default-constructed Work is done.
///
/// The arrays of the operation belong to it until wait() has returned or thrown. Declare a Work
/// after its arrays.
///
/// Dropping the last handle without waiting neither cancels the operation nor reports its error.
/// If an exception drops it, the arrays are often destroyed next: then its destructor waits for the
/// end of a collective, and leaves the group if a message is under way.
class Work {
 public:
  Work() = default;
  /// For Lockstep's own use.
  explicit Work(std::shared_ptr<internal::comm::WorkState> state) : state_(std::move(state)) {}

  /// Blocks until the operation has ended, and rethrows its error if it failed. Any thread, any
  /// number of times.
  void wait();

  /// A Work that ends when `next` has run after this operation has ended without an error. The
  /// first wait() runs `next`, on the waiting thread. If `next` throws, every wait() throws that
  /// error.
  Work then(std::function<void()> next) const;

  /// True once wait() would return or throw without waiting for other ranks; it may still have to
  /// run the functions given to then(). Any thread.
  bool done() const;

 private:
  std::shared_ptr<internal::comm::WorkState> state_;
};

}  // namespace lockstep
