// Fork detection: lets an object find out that it is a copy in a forked child.
//
// The child has the object's memory, but not its threads, and shares its sockets and shared memory
// with the parent. It must therefore neither use the object nor destroy it: the destructor would
// send goodbye messages in the parent's name and wait for threads that do not exist.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace lockstep::internal {

/// Number of forks between the program's start and this process. Thread safety: any thread; costs
/// one load. Counts fork(), not a bare clone().
std::uint64_t fork_count();

/// The process that created the object which holds this as a field.
class OwnerProcess {
 public:
  OwnerProcess() : forks_(fork_count()) {}
  /// False in a child that was forked after construction.
  bool is_this_one() const { return forks_ == fork_count(); }

 private:
  std::uint64_t forks_;
};

/// Keeps the object reachable, so that leak checkers do not report it.
void leak(const void* object);

/// Like std::make_shared, but in a forked child the object is leaked instead of destroyed.
template <typename T, typename... Arguments>
std::shared_ptr<T> make_shared_unless_forked(Arguments&&... arguments) {
  return std::shared_ptr<T>(new T(std::forward<Arguments>(arguments)...),
                            [owner = OwnerProcess()](T* object) {
                              if (owner.is_this_one())
                                delete object;
                              else
                                leak(object);
                            });
}

}  // namespace lockstep::internal
