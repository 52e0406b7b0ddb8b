#include "sync/methods/ddp.h"

#include <lockstep/error.h>

#include "base/check.h"
#include "base/hash/quick_hash.h"
#include "base/text.h"
#include "comm/group_core.h"
#include "sync/same_on_all.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>

namespace lockstep::internal::sync {

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

/// Reduces the alert as a message of its own.
bool any_problem(Group& group, bool problem) {
  std::vector<std::uint8_t> alert{static_cast<std::uint8_t>(problem)};
  group.all_reduce(alert, ReduceOp::max);
  return alert[0] != 0;
}

}  // namespace

Ddp::Ddp(Group group, const Gradients& gradients, DdpSettings settings)
    : group_(std::move(group)),
      owner_(group_.core()->new_bucket_owner()),
      gradients_(gradients),
      settings_(std::move(settings)),
      bucket_of_(gradients.parameters().size()),
      frozen_(gradients.parameters().size(), Frozen::no) {
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
  mark_discarded(false, settings_.unused_before);
  clear();
}

Ddp::~Ddp() {
  await_all(started_);
  for (Abandoned& backward : abandoned_) await_all(backward.works);
}

void Ddp::await_all(std::vector<Work>& works) noexcept {
  // Running buckets belong to the group, or to the hook, until they have ended, with or without
  // error.
  for (Work& work : works) {
    try {
      work.wait();
    } catch (...) {  // every later call on the group throws the same error
    }
  }
}

void Ddp::clear() {
  started_.clear();
  statuses_.assign(bucket_of_.size(), GradientStatus());
  freezing_ = 0;
  received_.assign(bucket_of_.size(), 0);
  final_.assign(bucket_of_.size(), 0);
  error_text_.clear();
  tell_reloaded_ = false;
  missing_.clear();
  for (const Bucket& bucket : gradients_.layout().buckets())
    missing_.push_back(bucket.parameters.size());
}

void Ddp::ready(std::size_t parameter) {
  arrive(parameter, Arrival::ready, true);
}

void Ddp::freeze(std::size_t parameter) {
  Arrival& arrival = statuses_[parameter].arrival;
  if (arrival == Arrival::absent) arrival = Arrival::frozen;
}

void Ddp::record_freezing(std::uint64_t mask) {
  freezing_ = quick_hash(std::array{freezing_, mask});
}

void Ddp::mark(std::size_t parameter, Arrival how) {
  Arrival& arrival = statuses_[parameter].arrival;
  if (arrival <= Arrival::ready) arrival = how;
}

void Ddp::arrive(std::size_t parameter, Arrival how, bool final) {
  complete_abandoned();
  if (bucket_of_[parameter] < started_.size()) how = Arrival::late;
  received_[parameter] = 1;
  mark(parameter, how);
  if (!final || how == Arrival::late || final_[parameter] != 0) return;
  final_[parameter] = 1;
  --missing_[bucket_of_[parameter]];
  // Buckets start in their own order, not in that of the gradients: it is the same on all ranks.
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
  for (std::size_t i = 0; i < received_.size(); ++i)
    if (received_[i] == 0) without.push_back(i);
  return without;
}

void Ddp::finish() {
  unused_.clear();
  reloaded_ = false;
  if (missing_.empty()) return;
  complete_abandoned();
  std::optional<Arrivals> arrivals;
  std::vector<std::string> error_texts;
  try {
    if (reduce_rest(has_problem())) arrivals.emplace(group_, status_report());
    if (arrivals && !arrivals->any_rank(RankFlag::abandoned) && arrivals->any_rank(RankFlag::error))
      error_texts = gather_texts(group_, error_text_);
  } catch (...) {
    abandon();
    try {
      complete_abandoned();  // now, because the other ranks wait for the same buckets
    } catch (...) {          // tried again later, unless the group has failed
    }
    throw;
  }
  clear();
  mark_discarded(true);  // until the reports were found to be without an error
  if (arrivals)
    act_on(*arrivals, error_texts);
  else
    unused_ = frozen();
  mark_discarded(false, unused_);
}

std::vector<std::size_t> Ddp::frozen() const {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < frozen_.size(); ++i)
    if (frozen_[i] != Frozen::no) all.push_back(i);
  return all;
}

bool Ddp::has_problem() const {
  if (!error_text_.empty() || tell_reloaded_ || freezing_ != 0) return true;
  for (std::size_t i = 0; i < statuses_.size(); ++i)
    if (!is_expected(i)) return true;
  return false;
}

bool Ddp::is_expected(std::size_t parameter) const {
  const auto [arrival, holds_older] = statuses_[parameter];
  if (frozen_[parameter] == Frozen::no)
    return arrival == Arrival::ready || arrival == Arrival::kept;
  return arrival == Arrival::frozen && holds_older == (frozen_[parameter] == Frozen::with_gradient);
}

RankReport Ddp::status_report() const {
  return {statuses_,
          (error_text_.empty() ? RankFlag::none : RankFlag::error) |
              (tell_reloaded_ ? RankFlag::reloaded : RankFlag::none),
          freezing_};
}

bool Ddp::reduce_rest(bool problem) {
  while (started_.size() < early_buckets())
    started_.push_back(reduce_async(started_.size(), gradients_.bucket(started_.size())));
  if (settings_.hook) {
    for (Work& work : started_) work.wait();
    return any_problem(group_, problem);
  }
  const ArrayView last = gradients_.last_bucket_and_alert();
  set_last(last, problem ? 1 : 0);
  {
    const comm::BucketMark mark(started_.size(), owner_);
    group_.all_reduce(last, settings_.op, settings_.algorithm);
  }
  for (Work& work : started_) work.wait();
  return last_of(last) > 0;
}

void Ddp::act_on(const Arrivals& arrivals, const std::vector<std::string>& error_texts) {
  arrivals.require_not_abandoned();
  if (!error_texts.empty())
    throw Error(by_rank(error_texts, "found that") +
                ": gradients are not averaged; wrap the module again on every rank");
  arrivals.require_whole(gradients_.parameters());
  if (!settings_.allow_unused) arrivals.require_all(gradients_.parameters());
  unused_ = arrivals.absent_everywhere();
  reloaded_ = arrivals.any_rank(RankFlag::reloaded);
  for (std::size_t i = 0; i < frozen_.size(); ++i)
    frozen_[i] = !arrivals.is_frozen(i)     ? Frozen::no
                 : arrivals.holders(i) == 0 ? Frozen::without_gradient
                                            : Frozen::with_gradient;
}

void Ddp::mark_discarded(bool all, const std::vector<std::size_t>& unused) {
  if (!settings_.hook) return;
  for (std::vector<GradientPart>& bucket : parts_)
    for (GradientPart& part : bucket)
      part.discarded =
          all || std::find(unused.begin(), unused.end(), part.parameter) != unused.end();
}

void Ddp::start_abandoning() noexcept {
  abandoned_.push_back({started_.size()});
  if (abandoned_.size() > 1) return;  // an earlier backward must be completed first
  try {
    start_remaining(abandoned_.back());
  } catch (...) {  // for example by a hook: the remaining buckets start later
  }
}

void Ddp::await_abandoned() noexcept {
  await_all(started_);
  clear();
}

void Ddp::complete_abandoned() {
  while (!abandoned_.empty()) {
    complete(abandoned_.front());
    abandoned_.erase(abandoned_.begin());
  }
}

void Ddp::start_remaining(Abandoned& backward) {
  const auto& buckets = gradients_.layout().buckets();
  while (backward.started < buckets.size()) {
    const Bucket& bucket = buckets[backward.started];
    const bool last = &bucket == &buckets.back() && !settings_.hook;
    const std::size_t count = bucket.slot.count + (last ? 1 : 0);
    // The memory of the gradients belongs to the next backward.
    std::vector<std::byte>& zeros = backward.zeros.emplace_back(count * size_of(bucket.type));
    const ArrayView memory(zeros.data(), count, bucket.type);
    if (last) set_last(memory, 1);
    backward.works.push_back(reduce_async(backward.started, memory));
    ++backward.started;
  }
}

void Ddp::complete(Abandoned& backward) {
  start_remaining(backward);
  while (!backward.works.empty()) {
    Work work = std::move(backward.works.front());
    backward.works.erase(backward.works.begin());
    work.wait();
  }
  if (settings_.hook) any_problem(group_, true);
  Arrivals(group_, {std::vector<GradientStatus>(statuses_.size()), RankFlag::abandoned, 0});
  mark_discarded(true);
}

}  // namespace lockstep::internal::sync
