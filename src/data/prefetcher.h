// Prefetcher: loads batches ahead of time, on threads of its own, while the network trains on those
// before.
#pragma once

#include "base/thread_annotations.h"
#include "data/loader.h"

#include <exception>
#include <list>
#include <thread>

namespace lockstep::data {

/// Hands batches over in the order in which they were asked for. All calls from one thread.
class Prefetcher {
 public:
  /// Without threads each batch is loaded when it is taken: where batches are so small that handing
  /// them over costs more than loading them. The loader must outlive it.
  Prefetcher(const Loader& loader, int threads);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// One more batch, of these images.
  void ask(std::span<const std::uint32_t> images, std::uint64_t epoch);

  /// Batches that were asked for and not taken yet.
  std::size_t ahead() const { return ahead_; }

  /// The next batch; the caller's until next() is called again. Rethrows what loading it threw.
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

  void work();
  /// The job must be this thread's alone.
  void load(Job& job) const;
  Job* first_waiting() REQUIRES_LOCK(mutex_);

  const Loader& loader_;
  std::size_t ahead_ = 0;
  std::list<Job> taken_;  ///< the batch that the caller has, and those whose memory can be reused

  Mutex mutex_;
  Condition changed_;
  std::list<Job> jobs_ GUARDED_BY(mutex_);  ///< in order; a job keeps its address
  bool closing_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace lockstep::data
