#include "base/fork.h"

#include <atomic>
#include <pthread.h>

namespace lockstep::internal {

namespace {

std::atomic<std::uint64_t> forks{0};

struct Leaked {
  const void* object;
  Leaked* next;
};
std::atomic<Leaked*> leaked{nullptr};

bool count_forks() {
  ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  return true;
}

}  // namespace

std::uint64_t fork_count() {
  // Forks before the first call do not matter: no object exists yet.
  [[maybe_unused]] static const bool counting = count_forks();
  return forks.load(std::memory_order_relaxed);
}

void leak(const void* object) {
  auto* entry = new Leaked{object, leaked.load()};
  while (!leaked.compare_exchange_weak(entry->next, entry)) {
  }
}

}  // namespace lockstep::internal
