#include "sync/compressor.h"

#include <lockstep/error.h>

#include "base/fork.h"
#include "base/thread_annotations.h"
#include "comm/flight/bucket_mark.h"
#include "comm/half.h"
#include "comm/work_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <optional>
#include <thread>

namespace lockstep::sync {

namespace {

/// A bucket that waits for its turn, or had it.
class Job : public comm::PendingWork {
 public:
  Job(Group group, const GradientBucket& bucket)
      : group_(std::move(group)), bucket_(bucket), mark_(comm::marked) {}

  void run(Compressor& compressor) {
    std::exception_ptr error;
    const comm::BucketMark mark(mark_);
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
  const comm::Bucketed mark_;  ///< of the thread that asked for it
};

/// A compressor and its thread, which ends when all that was asked for is done.
class Workshop {
 public:
  explicit Workshop(std::function<std::unique_ptr<Compressor>()> make) : make_(std::move(make)) {}

  ~Workshop() {
    {
      Lock lock(mutex_);
      closing_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

  Work start(const Group& group, const GradientBucket& bucket) {
    serve(group);
    auto job = make_shared_unless_forked<Job>(group, bucket);
    Lock lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { work_through_queue(); });
    queue_.push_back(job);
    changed_.notify_all();
    return Work(make_shared_unless_forked<comm::Submitted>(job));
  }

 private:
  /// What is kept of one wrapper's parameters means nothing for another's, whose numbers are the
  /// same. A wrapper's group tells which it is.
  void serve(const Group& group) {
    const auto before = user_.lock();
    if (before == group.core()) return;
    if (before)
      throw UsageError(
          "one compression hook was given to two wrappers, but it keeps what one of them has left "
          "to "
          "send: make a hook for each wrapper");
    compressor_ = make_();
    user_ = group.core();
  }

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

  const std::function<std::unique_ptr<Compressor>()> make_;
  std::unique_ptr<Compressor> compressor_;  ///< replaced only while there are no jobs
  std::weak_ptr<comm::GroupCore> user_;
  Mutex mutex_;
  Condition changed_;
  std::deque<std::shared_ptr<Job>> queue_ GUARDED_BY(mutex_);
  bool closing_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  ///< started with the first bucket, by the only thread that brings them
};

/// Calls function(the gradients as what they are, how to read one, how to write one).
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
  auto workshop = make_shared_unless_forked<Workshop>(std::move(make));
  return [workshop](Group& group, const GradientBucket& bucket) {
    return group.size() == 1 ? Work() : workshop->start(group, bucket);
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

}  // namespace lockstep::sync
