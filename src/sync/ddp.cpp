#include "sync/ddp.h"

#include <lockstep/error.h>

#include "base/check.h"
#include "base/text.h"

#include <fmt/format.h>

namespace lockstep::sync {

Ddp::Ddp(Group group, const Gradients& gradients, Algorithm algorithm)
    : group_(std::move(group)),
      gradients_(gradients),
      algorithm_(algorithm),
      bucket_of_(gradients.parameters().size()) {
  const auto& buckets = gradients_.layout().buckets();
  for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket)
    for (std::size_t parameter : buckets[bucket].parameters) bucket_of_[parameter] = bucket;
  reset();
}

Ddp::~Ddp() {
  await_started();
}

void Ddp::await_started() {
  for (Work& work : started_) {
    try {
      work.wait();
    } catch (const std::exception&) {  // every later call on the group throws it again
    }
  }
  started_.clear();
}

void Ddp::reset() {
  await_started();
  ready_.assign(bucket_of_.size(), 0);
  missing_.clear();
  for (const Bucket& bucket : gradients_.layout().buckets())
    missing_.push_back(bucket.parameters.size());
}

void Ddp::ready(std::size_t parameter) {
  LOCKSTEP_CHECK(ready_[parameter] == 0, "parameter {} was ready twice", parameter);
  ready_[parameter] = 1;
  --missing_[bucket_of_[parameter]];
  // In the order of the buckets, whatever the order of the gradients: it is the same on all ranks.
  while (started_.size() + 1 < missing_.size() && missing_[started_.size()] == 0)
    started_.push_back(
        group_.all_reduce_async(gradients_.bucket(started_.size()), ReduceOp::average, algorithm_));
}

void Ddp::finish() {
  require_all_ready();
  if (!missing_.empty())
    group_.all_reduce(gradients_.bucket(missing_.size() - 1), ReduceOp::average, algorithm_);
  for (Work& work : started_) work.wait();
  reset();
}

void Ddp::require_all_ready() const {
  std::vector<std::string> absent;
  for (std::size_t parameter = 0; parameter < ready_.size(); ++parameter)
    if (ready_[parameter] == 0) absent.push_back(gradients_.parameters()[parameter].name);
  if (!absent.empty())
    throw Error(fmt::format(
        "backward ended, but rank {} has no gradient for {}: every parameter must take part in the "
        "loss on every rank",
        group_.rank(), enumerate(absent)));
}

}  // namespace lockstep::sync
