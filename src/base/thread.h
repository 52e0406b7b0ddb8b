// Threads: the one place where Lockstep's own code starts them, so that a simulator can replace it.
#pragma once

#include <cstddef>
#include <future>
#include <pthread.h>
#include <thread>
#include <utility>

namespace lockstep::internal {

/// A function that names its thread and then calls `body`. Programs such as top -H and gdb show the
/// name.
template <std::size_t size, typename Body>
auto with_thread_name(const char (&name)[size], Body body) {
  static_assert(size <= 16, "the kernel stores names of at most 15 characters");
  return [text = &name[0], body = std::move(body)]() mutable {
    ::pthread_setname_np(::pthread_self(), text);
    return body();
  };
}

/// A thread. It inherits the signal mask of the thread that starts it. The destructor waits until
/// it ends: as the last field of a class, it ends before the other fields are destroyed. In a
/// forked child, a started Thread must not be destroyed (base/fork.h).
class Thread {
 public:
  Thread() = default;

  /// Starts it. `name` is a literal. Throws std::system_error if the process may have no more
  /// threads. REQUIRES: `body` throws nothing.
  template <std::size_t size, typename Body>
  Thread(const char (&name)[size], Body body) : thread_(with_thread_name(name, std::move(body))) {}

  bool joinable() const { return thread_.joinable(); }
  void join() { thread_.join(); }
  /// Lets it run until the process ends.
  void detach() { thread_.detach(); }
  pthread_t native_handle() { return thread_.native_handle(); }

 private:
  std::jthread thread_;
};

/// Calls `function` on a new thread. The future has the result or the exception; its
/// destructor waits until the function ends. Throws like Thread.
template <std::size_t size, typename Function>
auto call_on_thread(const char (&name)[size], Function function) {
  return std::async(std::launch::async, with_thread_name(name, std::move(function)));
}

}  // namespace lockstep::internal
