#include "data/prefetcher.h"

#include "base/check.h"

namespace lockstep::internal::data {

Prefetcher::Prefetcher(const Loader& loader, int threads) : Prefetcher(loader) {
  // If one cannot be started, the destructor ends the others.
  for (int i = 0; i < threads; ++i) threads_.emplace_back("prefetcher", [this] { work(); });
}

Prefetcher::~Prefetcher() {
  Lock lock(mutex_);
  closing_ = true;
  changed_.notify_all();
}

void Prefetcher::ask(std::span<const std::uint32_t> images, std::uint64_t epoch) {
  std::list<Job> job;
  // The caller still uses the newest of the taken jobs.
  if (taken_.size() > 1)
    job.splice(job.end(), taken_, taken_.begin());
  else
    job.emplace_back();
  job.front().images.assign(images.begin(), images.end());
  job.front().epoch = epoch;
  job.front().state = State::waiting;
  job.front().error = nullptr;
  ++ahead_;
  {
    Lock lock(mutex_);
    jobs_.splice(jobs_.end(), job);
  }
  if (!threads_.empty()) changed_.notify_all();
}

const Batch& Prefetcher::next() {
  LOCKSTEP_CHECK(ahead_ > 0, "a batch was taken that was not requested");
  --ahead_;
  mutex_.lock();
  Job& job = jobs_.front();
  if (job.state == State::waiting) {  // no thread loads it: faster than waiting for one
    job.state = State::loading;
    mutex_.unlock();
    load(job);
    mutex_.lock();
    job.state = State::loaded;
  }
  while (job.state != State::loaded) changed_.wait(mutex_);
  taken_.splice(taken_.end(), jobs_, jobs_.begin());
  mutex_.unlock();
  if (job.error) std::rethrow_exception(job.error);
  return job.batch;
}

void Prefetcher::work() {
  mutex_.lock();
  for (;;) {
    while (!closing_ && first_waiting() == nullptr) changed_.wait(mutex_);
    if (closing_) break;
    Job& job = *first_waiting();
    job.state = State::loading;
    mutex_.unlock();
    load(job);
    mutex_.lock();
    job.state = State::loaded;
    changed_.notify_all();
  }
  mutex_.unlock();
}

void Prefetcher::load(Job& job) const {
  try {
    loader_.load(job.images, job.batch, job.epoch);
  } catch (...) {
    job.error = std::current_exception();
  }
}

Prefetcher::Job* Prefetcher::first_waiting() {
  for (Job& job : jobs_)
    if (job.state == State::waiting) return &job;
  return nullptr;
}

}  // namespace lockstep::internal::data
