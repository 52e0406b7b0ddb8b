#include "sync/ddp.h"

#include <lockstep/error.h>

#include "comm/flight/bucket_mark.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::sync {

namespace {

/// The last element of an array of gradients.
void set_last(const ArrayView& array, double value) {
  if (array.type == DataType::float32)
    static_cast<float*>(array.data)[array.count - 1] = static_cast<float>(value);
  else
    static_cast<double*>(array.data)[array.count - 1] = value;
}
double last_of(const ArrayView& array) {
  if (array.type == DataType::float32)
    return static_cast<const float*>(array.data)[array.count - 1];
  return static_cast<const double*>(array.data)[array.count - 1];
}

/// The note where it travels alone.
bool anyone(Group& group, bool amiss) {
  std::vector<std::uint8_t> note{static_cast<std::uint8_t>(amiss)};
  group.all_reduce(note, ReduceOp::max);
  return note[0] != 0;
}

}  // namespace

Ddp::Ddp(Group group, const Gradients& gradients, DdpSettings settings)
    : group_(std::move(group)),
      gradients_(gradients),
      settings_(std::move(settings)),
      bucket_of_(gradients.parameters().size()) {
  const auto& buckets = gradients_.layout().buckets();
  for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket) {
    parts_.emplace_back();
    for (std::size_t parameter : buckets[bucket].parameters) {
      const Slot& slot = gradients_.layout().slots()[parameter];
      bucket_of_[parameter] = bucket;
      parts_.back().push_back({slot.begin - buckets[bucket].slot.begin, slot.count,
                               gradients_.parameters()[parameter].rows});
    }
  }
  clear();
}

Ddp::~Ddp() {
  await_started();
}

void Ddp::await_started() noexcept {
  // Buckets under way belong to the group, or the hook, until they have ended, well or not.
  for (Work& work : started_) {
    try {
      work.wait();
    } catch (...) {  // every later call on the group throws it again
    }
  }
}

void Ddp::clear() {
  started_.clear();
  arrivals_.assign(bucket_of_.size(), Arrival::absent);
  came_.assign(bucket_of_.size(), 0);
  missing_.clear();
  for (const Bucket& bucket : gradients_.layout().buckets())
    missing_.push_back(bucket.parameters.size());
}

void Ddp::ready(std::size_t parameter) {
  arrive(parameter, Arrival::ready);
}

void Ddp::mark(std::size_t parameter, Arrival how) {
  if (arrivals_[parameter] <= Arrival::ready) arrivals_[parameter] = how;
}

void Ddp::arrive(std::size_t parameter, Arrival how) {
  if (abandoned_) make_up_for_abandoned();
  if (came_[parameter] != 0)
    throw Error(fmt::format(
        "the gradient of {} was ready twice in one backward: a backward within a backward cannot "
        "be synchronised",
        gradients_.parameters()[parameter].name));
  came_[parameter] = 1;
  mark(parameter, how);
  --missing_[bucket_of_[parameter]];
  // In the order of the buckets, whatever the order of the gradients: it is the same on all ranks.
  while (started_.size() < early_buckets() && missing_[started_.size()] == 0)
    started_.push_back(reduce_async(started_.size(), gradients_.bucket(started_.size())));
}

Work Ddp::reduce_async(std::size_t bucket, ArrayView memory) {
  const comm::BucketMark mark(bucket);
  if (settings_.hook)
    return settings_.hook(group_, {bucket, missing_.size(), memory, parts_[bucket]});
  return group_.all_reduce_async(memory, settings_.op, settings_.algorithm);
}

std::vector<std::size_t> Ddp::without_gradient() const {
  std::vector<std::size_t> without;
  for (std::size_t i = 0; i < came_.size(); ++i)
    if (came_[i] == 0) without.push_back(i);
  return without;
}

void Ddp::finish() {
  unused_.clear();
  if (missing_.empty()) return;
  if (abandoned_) make_up_for_abandoned();
  const bool amiss = std::any_of(arrivals_.begin(), arrivals_.end(), [](Arrival arrival) {
    return arrival != Arrival::ready && arrival != Arrival::kept;
  });
  std::optional<Arrivals> arrivals;
  try {
    if (reduce_rest(amiss)) arrivals.emplace(group_, arrivals_, false);
  } catch (...) {
    give_up();
    throw;
  }
  clear();
  if (arrivals) act_on(*arrivals);
}

bool Ddp::reduce_rest(bool amiss) {
  while (started_.size() < early_buckets())
    started_.push_back(reduce_async(started_.size(), gradients_.bucket(started_.size())));
  if (settings_.hook) {
    for (Work& work : started_) work.wait();
    return anyone(group_, amiss);
  }
  const ArrayView last = gradients_.last_bucket_and_note();
  set_last(last, amiss ? 1 : 0);
  {
    const comm::BucketMark mark(started_.size());
    group_.all_reduce(last, settings_.op, settings_.algorithm);
  }
  for (Work& work : started_) work.wait();
  return last_of(last) > 0;
}

void Ddp::act_on(const Arrivals& arrivals) {
  arrivals.require_whole(gradients_.parameters());
  if (!settings_.allow_unused) arrivals.require_all(gradients_.parameters());
  unused_ = arrivals.absent_everywhere();
}

void Ddp::abandon() noexcept {
  const bool begun = std::find(came_.begin(), came_.end(), 1) != came_.end();
  if (begun) give_up();
}

void Ddp::give_up() noexcept {
  await_started();
  abandoned_ = started_.size();
  clear();
}

void Ddp::make_up_for_abandoned() {
  // Gradients' memory already has the next backward's: zeros take their place.
  std::vector<std::byte> zeros(gradients_.layout().bytes() + size_of(gradients_.layout().type()));
  const auto& buckets = gradients_.layout().buckets();
  while (*abandoned_ < buckets.size()) {
    const std::size_t bucket = *abandoned_;
    const bool last = bucket + 1 == buckets.size() && !settings_.hook;
    const ArrayView memory(zeros.data(), buckets[bucket].slot.count + (last ? 1 : 0),
                           gradients_.layout().type());
    if (last) set_last(memory, 1);
    Work work = reduce_async(bucket, memory);
    ++*abandoned_;
    work.wait();
    std::fill(zeros.begin(), zeros.end(), std::byte{0});
  }
  if (settings_.hook) anyone(group_, true);
  Arrivals(group_, arrivals_, true);
  abandoned_.reset();
}

}  // namespace lockstep::sync
