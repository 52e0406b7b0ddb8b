#include "ddp/backward_sync.h"

#include <lockstep/error.h>

#include "base/hash/quick_hash.h"
#include "comm/flight/flight_recorder.h"
#include "ddp/module_state.h"
#include "sync/same_on_all.h"

#include <fmt/format.h>

#include <span>
#include <utility>

namespace lockstep::internal::ddp {

BackwardSync::BackwardSync(Wrapper wrapper)
    : wrapper_(std::move(wrapper)), watch_(wrapper_.module) {
  const std::vector<sync::Parameter> trained = describe(*wrapper_.module);
  if (!trained.empty()) {
    nested_.resize(trained.size());
    use(std::make_unique<sync::Gradients>(
        wrapper_.group, trained, sync::Layout(trained, DataType::float32, bucket_options())));
    hooks_.emplace(
        trained_parameters(*wrapper_.module).values(), *gradients_,
        [this](std::size_t i) { on_ready(i); },
        [this](std::size_t i, sync::Arrival why) { on_refused(i, why); }, [this] { on_reached(); });
    frozen_.resize(trained.size());
  }
  backwards_.emplace(static_cast<BackwardObserver&>(*this));
  comm::note_step(step_);
}

void BackwardSync::run_without_batch() {
  if (!synchronises() || !hooks_) return;
  begin_backward();
  end_backward();
}

void BackwardSync::complete_abandoned() {
  if (method_) method_->complete_abandoned();
}

void BackwardSync::accept_new_values() {
  if (hooks_ && hooks_->refresh()) hooks_were_lost_ = true;
  watch_.moved();
  reloaded_ = false;
}

sync::BucketOptions BackwardSync::bucket_options() const {
  return {wrapper_.options.first_bucket_bytes, wrapper_.options.bucket_bytes};
}

void BackwardSync::use(std::unique_ptr<sync::Gradients> gradients) {
  const std::vector<std::size_t> unused = method_ ? method_->unused() : std::vector<std::size_t>();
  method_.emplace(wrapper_.group, *gradients,
                  sync::DdpSettings{.algorithm = wrapper_.options.algorithm,
                                    .allow_unused = wrapper_.options.allow_unused,
                                    .hook = wrapper_.options.hook,
                                    .unused_before = unused});
  gradients_ = std::move(gradients);
}

void BackwardSync::before_backward() {
  // The other ranks may still wait for the rest of a backward that threw.
  if (hooks_ && synchronises()) method_->complete_abandoned();
  begin_backward();
}

void BackwardSync::admit(const BackwardCall& call) {
  hook_again(call);
  if (problem_.empty() || !synchronises() || !call.reaches(watch_.parameters())) return;
  // Gradients may no longer fit: the other ranks are told before any are computed.
  reach_ = Reach::ended;
  end_backward();
}

void BackwardSync::before_nested_backward(const BackwardCall& call) {
  hook_again(call);
  if (!problem_.empty() && call.reaches(watch_.parameters())) reach_ = Reach::reached;
}

void BackwardSync::after_backward() {
  if (std::exchange(reach_, Reach::none) == Reach::reached && synchronises()) end_backward();
}

void BackwardSync::after_failure(const BackwardCall& call) noexcept {
  const Reach reach = std::exchange(reach_, Reach::none);
  if (reach == Reach::ended || !synchronises() || !hooks_) return;
  if (reach == Reach::reached || call.reaches(watch_.parameters())) {
    abandoned_ = true;
    frozen_.clear();
    return method_->start_abandoning();
  }
  // A function that runs its own backward may have reached this module.
  if (call.may_hide_a_backward())
    lasting_problem_ =
        "an exception ended a backward that may have included this module, so ranks may be at "
        "different steps";
}

void BackwardSync::await_failure() noexcept {
  if (std::exchange(abandoned_, false)) method_->await_abandoned();
}

bool BackwardSync::concerns(const BackwardCall& call) const {
  return hooks_ && call.reaches(watch_.parameters());
}

void BackwardSync::begin_backward() {
  reach_ = Reach::none;
  arrival_order_.clear();
  if (hooks_ && hooks_->refresh()) hooks_were_lost_ = reloaded_ = true;
  if (watch_.moved()) reloaded_ = true;
  record_freezing();
  problem_ = lasting_problem_.empty() ? watch_.change() : lasting_problem_;
  if (problem_.empty() && hooks_) problem_ = hooks_->shared_with_another();
}

void BackwardSync::record_freezing() {
  if (!hooks_) return;
  std::vector<char> now(nested_.size());
  for (std::size_t i = 0; i < now.size(); ++i) now[i] = hooks_->is_trained(i) ? 0 : 1;
  if (now == frozen_) return;
  frozen_ = std::move(now);
  method_->record_freezing(quick_hash(std::as_bytes(std::span(frozen_))));
}

void BackwardSync::hook_again(const BackwardCall& call) {
  if (!hooks_ || (reordered_ && !hooks_were_lost_)) return;
  call.each_node([this](const auto& node) { hooks_->hook_again(node); });
}

void BackwardSync::on_ready(std::size_t parameter) {
  if (!synchronises()) return method_->keep(parameter);
  require_observed();
  reach_ = Reach::reached;
  const bool again = method_->has(parameter);
  if (backwards_->depth() > 1 || again) nested_[parameter] = 1;
  if (!reordered_ && !again) arrival_order_.push_back(parameter);
  if (!wrapper_.participation.has_batch) hooks_->clear(parameter);  // may be from an empty batch
  // The first backward shows which gradients come in several parts, from nested backwards.
  if (reordered_ && nested_[parameter] == 0)
    method_->ready(parameter);
  else
    method_->partial(parameter);
}

void BackwardSync::on_refused(std::size_t parameter, sync::Arrival why) {
  if (!synchronises()) return method_->keep(parameter, why);
  require_observed();
  reach_ = Reach::reached;
  method_->refuse(parameter, why);
}

void BackwardSync::on_reached() {
  if (!synchronises()) return;
  require_observed();
  reach_ = Reach::reached;
}

void BackwardSync::require_observed() const {
  if (backwards_->depth() == 0)
    throw UsageError(
        "backward runs on another thread than the one that constructed the "
        "DistributedDataParallel, or in another autograd engine: construct it on the thread that "
        "trains");
}

void BackwardSync::end_backward() {
  if (!method_)
    throw Error(fmt::format(
        "rank {} found that {}: gradients are not averaged; wrap the module again on every rank",
        wrapper_.group.rank(), problem_));
  if (!problem_.empty()) method_->set_error(problem_);
  if (reloaded_) method_->tell_reloaded();
  try {
    const std::vector<std::size_t> missing = method_->without_gradient();
    hooks_->fill_missing(missing);
    report_missing(missing);
  } catch (...) {  // for example by a bucket hook
    method_->abandon();
    frozen_.clear();
    throw;
  }
  try {
    method_->finish();
  } catch (...) {
    frozen_.clear();
    throw;
  }
  if (wrapper_.participation.scale != 1) scale_gradients();
  hooks_->restore(method_->unused());
  if (method_->reloaded()) require_same_values();
  if (wrapper_.options.broadcast_buffers) wrapper_.broadcast_buffers();
  if (!reordered_) reorder();
  comm::note_step(++step_);
}

void BackwardSync::report_missing(const std::vector<std::size_t>& missing) {
  for (std::size_t parameter : missing) {
    if (hooks_->has_gradient(parameter)) method_->hold(parameter);
    if (!hooks_->is_trained(parameter)) {
      method_->freeze(parameter);
    } else if (!wrapper_.participation.has_batch) {
      hooks_->clear(parameter);
      if (!wrapper_.options.allow_unused) method_->ready(parameter);
    }
  }
}

void BackwardSync::require_same_values() {
  try {
    sync::require_same_on_all(
        wrapper_.group, describe_values(*wrapper_.module),
        "the ranks' parameters differ since they were loaded or replaced",
        "Load the same file on every rank, or call sync_parameters() to copy rank 0's to all");
  } catch (const MismatchError&) {
    method_->discard();
    throw;
  }
  reloaded_ = false;
}

void BackwardSync::scale_gradients() {
  for (std::size_t bucket = 0; bucket < gradients_->layout().buckets().size(); ++bucket) {
    const ArrayView values = gradients_->bucket(bucket);
    tensor_over(values, {static_cast<std::int64_t>(values.count)})
        .mul_(wrapper_.participation.scale);
  }
}

void BackwardSync::reorder() {
  reordered_ = true;
  const auto& parameters = gradients_->parameters();
  const sync::Layout& old = gradients_->layout();
  std::vector<char> came(parameters.size());
  for (std::size_t i : arrival_order_) came[i] = 1;
  std::vector<std::int64_t> order(arrival_order_.begin(), arrival_order_.end());
  for (std::size_t i : old.order())
    if (came[i] == 0) order.push_back(static_cast<std::int64_t>(i));
  wrapper_.group.broadcast(order);
  const std::vector<std::size_t> numbers(order.begin(), order.end());
  if (numbers == old.order()) return;
  auto moved = std::make_unique<sync::Gradients>(
      wrapper_.group, parameters,
      sync::Layout(parameters, DataType::float32, bucket_options(), numbers));
  hooks_->move_to(*moved);
  use(std::move(moved));
}

}  // namespace lockstep::internal::ddp
