#include "sync/compressor.h"

#include "base/thread_annotations.h"
#include "comm/flight/bucket_mark.h"
#include "comm/work_state.h"

#include <deque>
#include <exception>
#include <optional>
#include <thread>

namespace lockstep::sync {

namespace {

/// A bucket that waits for its turn, or had it.
class Job : public comm::PendingWork {
 public:
  Job(Group group, const GradientBucket& bucket) : group_(std::move(group)), bucket_(bucket) {}

  void run(Compressor& compressor) {
    std::exception_ptr error;
    const comm::BucketMark mark(bucket_.number);
    try {
      compressor.reduce(*group_, bucket_);
    } catch (...) {
      error = std::current_exception();
    }
    group_.reset();  // a finished job keeps nobody in the group
    finish(error);
  }

 private:
  std::optional<Group> group_;
  const GradientBucket bucket_;
};

/// A compressor and its thread, which ends when all that was asked for is done.
class Workshop {
 public:
  explicit Workshop(std::unique_ptr<Compressor> compressor) : compressor_(std::move(compressor)) {}

  ~Workshop() {
    {
      Lock lock(mutex_);
      closing_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

  Work start(const Group& group, const GradientBucket& bucket) {
    auto job = std::make_shared<Job>(group, bucket);
    Lock lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { work_through_queue(); });
    queue_.push_back(job);
    changed_.notify_all();
    return Work(job);
  }

 private:
  void work_through_queue() {
    while (const std::shared_ptr<Job> job = next()) job->run(*compressor_);
  }

  /// Null when there is nothing more to do.
  std::shared_ptr<Job> next() {
    Lock lock(mutex_);
    while (queue_.empty() && !closing_) changed_.wait(mutex_);
    if (queue_.empty()) return nullptr;
    std::shared_ptr<Job> job = queue_.front();
    queue_.pop_front();
    return job;
  }

  const std::unique_ptr<Compressor> compressor_;
  Mutex mutex_;
  Condition changed_;
  std::deque<std::shared_ptr<Job>> queue_ GUARDED_BY(mutex_);
  bool closing_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  ///< started with the first bucket, by the only thread that brings them
};

template <typename T, typename Function>
void each(const ArrayView& gradients, Function function) {
  T* values = static_cast<T*>(gradients.data);
  for (std::size_t i = 0; i < gradients.count; ++i) function(values[i], i);
}

}  // namespace

BucketHook make_hook(std::unique_ptr<Compressor> compressor) {
  auto workshop = std::make_shared<Workshop>(std::move(compressor));
  return [workshop](Group& group, const GradientBucket& bucket) {
    return group.size() == 1 ? Work() : workshop->start(group, bucket);
  };
}

std::vector<GradientPart> parts_of(const GradientBucket& bucket) {
  if (bucket.parts.empty()) return {{0, bucket.gradients.count, 0}};
  return {bucket.parts.begin(), bucket.parts.end()};
}

void add_to(std::vector<float>& values, const ArrayView& gradients) {
  if (gradients.type == DataType::float32)
    each<float>(gradients, [&](float gradient, std::size_t i) { values[i] += gradient; });
  else
    each<double>(gradients, [&](double gradient, std::size_t i) {
      values[i] = static_cast<float>(values[i] + gradient);
    });
}

void store(const std::vector<float>& values, const ArrayView& gradients) {
  if (gradients.type == DataType::float32)
    each<float>(gradients, [&](float& gradient, std::size_t i) { gradient = values[i]; });
  else
    each<double>(gradients, [&](double& gradient, std::size_t i) { gradient = values[i]; });
}

}  // namespace lockstep::sync
