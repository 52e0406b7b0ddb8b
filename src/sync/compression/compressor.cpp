#include "sync/compression/compressor.h"

#include <lockstep/error.h>

#include "base/fork.h"
#include "base/thread.h"
#include "base/thread_annotations.h"
#include "comm/flight/bucket_mark.h"
#include "comm/half.h"
#include "comm/purpose.h"
#include "comm/work_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <optional>

namespace lockstep::internal::sync {

namespace {

/// A bucket in the queue, or a finished one.
class Job : public comm::PendingWork {
 public:
  Job(Group group, const GradientBucket& bucket)
      : group_(std::move(group)),
        bucket_(bucket),
        mark_(comm::marked),
        purpose_(comm::current_purpose) {}

  void run(Compressor& compressor) {
    std::exception_ptr error;
    const comm::BucketMark mark(mark_);
    const comm::PurposeMark purpose(purpose_);
    try {
      compressor.reduce(*group_, bucket_);
    } catch (...) {
      error = std::current_exception();
    }
    group_.reset();  // a finished job must not keep the group alive
    finish(error);
  }

 private:
  std::optional<Group> group_;
  const GradientBucket bucket_;
  const comm::Bucketed mark_;  ///< this and the purpose are those of the thread that started it
  const comm::Purpose purpose_;
};

/// A compressor and its thread. The destructor waits until the queue is empty.
class CompressionThread {
 public:
  explicit CompressionThread(std::function<std::unique_ptr<Compressor>()> make)
      : make_(std::move(make)) {}

  ~CompressionThread() {
    Lock lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }

  Work start(const Group& group, const GradientBucket& bucket) {
    serve(group);
    auto job = make_shared_unless_forked<Job>(group, bucket);
    Lock lock(mutex_);
    if (!thread_.joinable()) thread_ = Thread("compression", [this] { work_through_queue(); });
    queue_.push_back(job);
    changed_.notify_all();
    return Work(make_shared_unless_forked<comm::Submitted>(job));
  }

 private:
  /// Makes a new compressor when the wrapper changes: residuals of one wrapper's parameters mean
  /// nothing for another's, whose parameters have the same numbers. The group identifies the
  /// wrapper.
  void serve(const Group& group) {
    const auto before = user_.lock();
    if (before == group.core()) return;
    if (before)
      throw UsageError(
          "one compression hook serves two wrappers, but it keeps residuals of one of them: make a "
          "hook for each wrapper");
    compressor_ = make_();
    user_ = group.core();
  }

  void work_through_queue() {
    while (const std::shared_ptr<Job> job = next()) job->run(*compressor_);
  }

  /// Waits for a job. Null when the queue is empty and closing.
  std::shared_ptr<Job> next() {
    Lock lock(mutex_);
    while (queue_.empty() && !closing_) changed_.wait(mutex_);
    if (queue_.empty()) return nullptr;
    std::shared_ptr<Job> job = queue_.front();
    queue_.pop_front();
    return job;
  }

  const std::function<std::unique_ptr<Compressor>()> make_;
  std::unique_ptr<Compressor> compressor_;  ///< replaced only while there are no jobs
  std::weak_ptr<comm::GroupCore> user_;
  Mutex mutex_;
  Condition changed_;
  std::deque<std::shared_ptr<Job>> queue_ GUARDED_BY(mutex_);
  bool closing_ GUARDED_BY(mutex_) = false;
  Thread thread_;  ///< started with the first bucket
};

/// Calls function(typed pointer to the gradients, conversion to float, conversion from float).
template <typename Function>
void as_they_are(const ArrayView& gradients, Function function) {
  using namespace comm;
  const auto same = [](auto value) { return value; };
  switch (gradients.type) {
    case DataType::float32:
      return function(static_cast<float*>(gradients.data), same, same);
    case DataType::float64:
      return function(static_cast<double*>(gradients.data), same, same);
    case DataType::float16:
      return function(static_cast<std::uint16_t*>(gradients.data), float16_to_float,
                      float_to_float16);
    case DataType::bfloat16:
      return function(static_cast<std::uint16_t*>(gradients.data), bfloat16_to_float,
                      float_to_bfloat16);
    default:
      throw UsageError(
          fmt::format("gradients of type {} cannot be compressed: only floating-point "
                      "numbers can",
                      name_of(gradients.type)));
  }
}

template <typename From, typename To, typename Function>
void convert(const From* from, To* to, std::size_t count, Function function) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) to[i] = function(from[i]);
}

}  // namespace

BucketHook make_hook(std::function<std::unique_ptr<Compressor>()> make) {
  auto compression = make_shared_unless_forked<CompressionThread>(std::move(make));
  return [compression](Group& group, const GradientBucket& bucket) {
    return group.size() == 1 ? Work() : compression->start(group, bucket);
  };
}

std::vector<GradientPart> parts_of(const GradientBucket& bucket) {
  if (bucket.parts.empty())
    return {{.begin = 0, .count = bucket.gradients.count, .parameter = bucket.number}};
  return {bucket.parts.begin(), bucket.parts.end()};
}

bool same_places(std::span<const GradientPart> one, std::span<const GradientPart> other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const GradientPart& a, const GradientPart& b) {
                      return a.begin == b.begin && a.count == b.count && a.rows == b.rows &&
                             a.parameter == b.parameter;
                    });
}

void load(const ArrayView& gradients, std::span<float> to) {
  as_they_are(gradients, [&](const auto* from, auto read, auto) {
    convert(from, to.data(), to.size(),
            [&](auto value) { return static_cast<float>(read(value)); });
  });
}

void store(std::span<const float> values, const ArrayView& gradients) {
  as_they_are(gradients, [&](auto* to, auto, auto write) {
    convert(values.data(), to, values.size(), write);
  });
}

}  // namespace lockstep::internal::sync
