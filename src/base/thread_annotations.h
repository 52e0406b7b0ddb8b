// Annotations for the locks that guard fields, checked by clang's -Wthread-safety and ignored by
// other compilers. libstdc++ does not annotate std::mutex, so Mutex and Lock do.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define LOCKSTEP_ANNOTATION(x) __attribute__((x))
#else
#define LOCKSTEP_ANNOTATION(x)
#endif

#define CAPABILITY(name) LOCKSTEP_ANNOTATION(capability(name))
#define SCOPED_CAPABILITY LOCKSTEP_ANNOTATION(scoped_lockable)
#define GUARDED_BY(lock) LOCKSTEP_ANNOTATION(guarded_by(lock))
#define REQUIRES_LOCK(lock) LOCKSTEP_ANNOTATION(requires_capability(lock))
#define ACQUIRES(...) LOCKSTEP_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RELEASES(...) LOCKSTEP_ANNOTATION(release_capability(__VA_ARGS__))

namespace lockstep::internal {

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRES() { mutex_.lock(); }
  void unlock() RELEASES() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class SCOPED_CAPABILITY Lock {
 public:
  explicit Lock(Mutex& mutex) ACQUIRES(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() RELEASES() { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mutex_;
};

/// A condition variable for Mutex. REQUIRES: the caller holds the mutex it passes.
using Condition = std::condition_variable_any;

}  // namespace lockstep::internal
