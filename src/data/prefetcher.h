// Prefetcher: loads batches ahead of time, on its own threads, while the model trains on earlier
// ones.
#pragma once

#include "base/thread.h"
#include "base/thread_annotations.h"
#include "data/loader.h"

#include <exception>
#include <list>

namespace lockstep::internal::data {

/// Returns batches in the order of the requests. Thread safety: one thread makes all calls.
class Prefetcher {
 public:
  /// With 0 threads, each batch is loaded when it is taken: better for batches so small that
  /// passing them between threads costs more than loading them. REQUIRES: the loader outlives this
  /// object.
  Prefetcher(const Loader& loader, int threads);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// Requests one more batch, with these images.
  void ask(std::span<const std::uint32_t> images, std::uint64_t epoch);

  /// Number of batches requested and not taken yet.
  std::size_t ahead() const { return ahead_; }

  /// The next batch, valid until next() is called again. Rethrows the exception of its loading.
  /// REQUIRES: ahead() > 0.
  const Batch& next();

 private:
  enum class State { waiting, loading, loaded };
  struct Job {
    std::vector<std::uint32_t> images;
    std::uint64_t epoch = 0;
    State state = State::waiting;
    std::exception_ptr error;
    Batch batch;
  };

  explicit Prefetcher(const Loader& loader) : loader_(loader) {}

  void work();
  /// REQUIRES: no other thread uses the job.
  void load(Job& job) const;
  Job* first_waiting() REQUIRES_LOCK(mutex_);

  const Loader& loader_;
  std::size_t ahead_ = 0;
  std::list<Job> taken_;  ///< the caller's batch, and others whose memory can be reused

  Mutex mutex_;
  Condition changed_;
  std::list<Job> jobs_ GUARDED_BY(mutex_);  ///< in order; a job keeps its address
  bool closing_ GUARDED_BY(mutex_) = false;
  std::vector<Thread> threads_;
};

}  // namespace lockstep::internal::data
