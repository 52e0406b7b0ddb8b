#include "sync/ddp.h"

#include <lockstep/error.h>

#include "base/check.h"
#include "base/text.h"
#include "comm/group_core.h"
#include "sync/same_on_all.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <type_traits>

namespace lockstep::sync {

namespace {

/// Calls the function with the last element of an array of gradients.
template <typename Function>
void with_last(const ArrayView& array, Function function) {
  const auto call = [&]<typename T>(T*) { function(static_cast<T*>(array.data)[array.count - 1]); };
  switch (array.type) {
    case DataType::float32:
      return call(static_cast<float*>(nullptr));
    case DataType::float64:
      return call(static_cast<double*>(nullptr));
    case DataType::float16:
      return call(static_cast<Float16*>(nullptr));
    case DataType::bfloat16:
      return call(static_cast<BFloat16*>(nullptr));
    default:
      LOCKSTEP_CHECK(false, "gradients of type {}", name_of(array.type));
  }
}
void set_last(const ArrayView& array, float value) {
  with_last(array, [&](auto& last) { last = static_cast<std::decay_t<decltype(last)>>(value); });
}
float last_of(const ArrayView& array) {
  float value = 0;
  with_last(array, [&](const auto& last) { value = static_cast<float>(last); });
  return value;
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
      owner_(group_.core()->new_bucket_owner()),
      gradients_(gradients),
      settings_(std::move(settings)),
      bucket_of_(gradients.parameters().size()),
      frozen_(gradients.parameters().size()) {
  const auto& buckets = gradients_.layout().buckets();
  for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket) {
    parts_.emplace_back();
    for (std::size_t parameter : buckets[bucket].parameters) {
      const Slot& slot = gradients_.layout().slots()[parameter];
      bucket_of_[parameter] = bucket;
      parts_.back().push_back({.begin = slot.begin - buckets[bucket].slot.begin,
                               .count = slot.count,
                               .rows = gradients_.parameters()[parameter].rows,
                               .parameter = parameter});
    }
  }
  note_discarded(false, settings_.unused_before);
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
  final_.assign(bucket_of_.size(), 0);
  complaint_.clear();
  tell_reloaded_ = false;
  missing_.clear();
  for (const Bucket& bucket : gradients_.layout().buckets())
    missing_.push_back(bucket.parameters.size());
}

void Ddp::ready(std::size_t parameter) {
  arrive(parameter, Arrival::ready, true);
}

void Ddp::freeze(std::size_t parameter) {
  if (arrivals_[parameter] == Arrival::absent) arrivals_[parameter] = Arrival::frozen;
}

void Ddp::mark(std::size_t parameter, Arrival how) {
  if (arrivals_[parameter] <= Arrival::ready) arrivals_[parameter] = how;
}

void Ddp::arrive(std::size_t parameter, Arrival how, bool final) {
  make_up_for_abandoned();
  if (bucket_of_[parameter] < started_.size()) how = Arrival::late;
  came_[parameter] = 1;
  mark(parameter, how);
  if (!final || how == Arrival::late || final_[parameter] != 0) return;
  final_[parameter] = 1;
  --missing_[bucket_of_[parameter]];
  // In the order of the buckets, whatever the order of the gradients: it is the same on all ranks.
  while (started_.size() < early_buckets() && missing_[started_.size()] == 0)
    started_.push_back(reduce_async(started_.size(), gradients_.bucket(started_.size())));
}

Work Ddp::reduce_async(std::size_t bucket, ArrayView memory) {
  const comm::BucketMark mark(bucket, owner_);
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
  reloaded_ = false;
  if (missing_.empty()) return;
  make_up_for_abandoned();
  std::optional<Arrivals> arrivals;
  std::vector<std::string> complaints;
  try {
    if (reduce_rest(is_amiss())) arrivals.emplace(group_, arrivals_, news());
    if (arrivals && !arrivals->anyone(News::abandoned) && arrivals->anyone(News::complaint))
      complaints = gather_texts(group_, complaint_);
  } catch (...) {
    give_up();
    try {
      make_up_for_abandoned();  // at once: the other ranks wait for the same buckets
    } catch (...) {             // it stays owed, unless the group is broken
    }
    throw;
  }
  clear();
  note_discarded(true);  // unless what follows finds nothing wrong
  if (arrivals)
    act_on(*arrivals, complaints);
  else
    unused_ = frozen();
  note_discarded(false, unused_);
}

std::vector<std::size_t> Ddp::frozen() const {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < frozen_.size(); ++i)
    if (frozen_[i] != 0) all.push_back(i);
  return all;
}

bool Ddp::is_amiss() const {
  if (!complaint_.empty() || tell_reloaded_) return true;
  for (std::size_t i = 0; i < arrivals_.size(); ++i) {
    const bool came = arrivals_[i] == Arrival::ready || arrivals_[i] == Arrival::kept;
    if (frozen_[i] != 0 ? arrivals_[i] != Arrival::frozen : !came) return true;
  }
  return false;
}

News Ddp::news() const {
  return (complaint_.empty() ? News::none : News::complaint) |
         (tell_reloaded_ ? News::reloaded : News::none);
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
    const comm::BucketMark mark(started_.size(), owner_);
    group_.all_reduce(last, settings_.op, settings_.algorithm);
  }
  for (Work& work : started_) work.wait();
  return last_of(last) > 0;
}

void Ddp::act_on(const Arrivals& arrivals, const std::vector<std::string>& complaints) {
  arrivals.require_not_abandoned();
  if (!complaints.empty())
    throw Error(by_rank(complaints, "found that") +
                ": gradients are not averaged; wrap the module again on every rank");
  arrivals.require_whole(gradients_.parameters());
  if (!settings_.allow_unused) arrivals.require_all(gradients_.parameters());
  unused_ = arrivals.absent_everywhere();
  reloaded_ = arrivals.anyone(News::reloaded);
  for (std::size_t i = 0; i < frozen_.size(); ++i) frozen_[i] = arrivals.is_frozen(i) ? 1 : 0;
}

void Ddp::note_discarded(bool all, const std::vector<std::size_t>& unused) {
  if (!settings_.hook) return;
  for (std::vector<GradientPart>& bucket : parts_)
    for (GradientPart& part : bucket)
      part.discarded =
          all || std::find(unused.begin(), unused.end(), part.parameter) != unused.end();
}

void Ddp::abandon() noexcept {
  give_up();
}

void Ddp::give_up() noexcept {
  await_started();
  abandoned_.push_back(started_.size());
  clear();
}

void Ddp::make_up_for_abandoned() {
  while (!abandoned_.empty()) {
    make_up_for(abandoned_.front());
    abandoned_.erase(abandoned_.begin());
  }
}

void Ddp::make_up_for(std::size_t& started) {
  // Gradients' memory already has the next backward's: zeros take their place.
  std::vector<std::byte> zeros(gradients_.layout().bytes() + sizeof(double));
  const auto& buckets = gradients_.layout().buckets();
  while (started < buckets.size()) {
    const std::size_t bucket = started;
    const bool last = bucket + 1 == buckets.size() && !settings_.hook;
    const ArrayView memory(zeros.data(), buckets[bucket].slot.count + (last ? 1 : 0),
                           buckets[bucket].type);
    if (last) set_last(memory, 1);
    Work work = reduce_async(bucket, memory);
    ++started;
    work.wait();
    std::fill(zeros.begin(), zeros.end(), std::byte{0});
  }
  if (settings_.hook) anyone(group_, true);
  Arrivals(group_, arrivals_, News::abandoned);
  note_discarded(true);
}

}  // namespace lockstep::sync
