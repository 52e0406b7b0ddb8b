#include <lockstep/ddp.h>
#include <lockstep/error.h>

#include "base/quick_hash.h"
#include "comm/flight/flight_recorder.h"
#include "ddp/backward_observer.h"
#include "ddp/gradient_hooks.h"
#include "ddp/module_state.h"
#include "ddp/module_watch.h"
#include "ddp/participation.h"
#include "sync/ddp.h"
#include "sync/same_on_all.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

namespace lockstep {

namespace {

/// What must be the same on all ranks, one line each.
std::vector<std::string> describe(const torch::nn::Module& module, const DdpOptions& options) {
  std::vector<std::string> lines{fmt::format(
      "options: buckets of {} and {} bytes, algorithm {}, allow_unused {}, broadcast_buffers {}, "
      "{}",
      options.first_bucket_bytes, options.bucket_bytes, name_of(options.algorithm),
      options.allow_unused, options.broadcast_buffers, options.hook ? "a hook" : "no hook")};
  for (std::string& line : ddp::describe_tensors(module)) lines.push_back(std::move(line));
  return lines;
}

/// A wrapper's collectives run on several threads, in its own order: a group of its own keeps them
/// apart from those of other wrappers and of the user.
Group own_group(const torch::nn::Module& module, Group group, const DdpOptions& options) {
  sync::require_same_on_all(
      group, describe(module, options), "the ranks wrap different modules",
      "Construct the module with the same parameters and buffers, and wrap it with the same "
      "options, on every rank");
  return group.size() > 1 ? group.split(0) : group;
}

}  // namespace

class DistributedDataParallel::Implementation : private ddp::BackwardObserver {
 public:
  Implementation(const std::shared_ptr<torch::nn::Module>& module, Group group,
                 const DdpOptions& options)
      : group_(own_group(*module, std::move(group), options)),
        options_(options),
        module_(module),
        parameters_(module->parameters()),
        buffers_(module->buffers()) {
    // All ranks have the same, so what follows fails on all or on none.
    ddp::require_dense_in_main_memory(*module);
    const std::vector<sync::Parameter> trained = ddp::describe(*module);
    broadcast_all();
    if (group_.size() == 1) return;  // nothing to average
    watch_.emplace(module);
    if (!trained.empty()) {
      nested_.resize(trained.size());
      use(std::make_unique<sync::Gradients>(
          group_, trained, sync::Layout(trained, DataType::float32, bucket_options())));
      hooks_.emplace(
          ddp::trained_parameters(*module).values(), *gradients_,
          [this](std::size_t i) { on_ready(i); },
          [this](std::size_t i, sync::Arrival why) { on_refused(i, why); },
          [this] { on_reached(); });
      frozen_.resize(trained.size());
    }
    backwards_.emplace(static_cast<ddp::BackwardObserver&>(*this));
    comm::note_step(step_);
  }

  NoSync no_sync() { return NoSync(unsynchronised_); }

  void backward_without_batch() {
    if (*unsynchronised_ > 0 || !hooks_) return;
    begin_backward();
    end_backward();
  }

  void sync_parameters() {
    catch_up();
    sync::require_same_on_all(group_, ddp::describe_tensors(*module_, false),
                              "the ranks' modules are no longer alike",
                              "Make the same change to the module on every rank");
    if (hooks_ && hooks_->refresh()) hooks_were_lost_ = true;
    if (watch_) watch_->moved();
    reloaded_ = false;
    broadcast_all();
  }

  void sync_buffers() {
    catch_up();
    ddp::broadcast_tensors(group_, buffers_, participation_.first);
  }

  void catch_up() {
    if (method_) method_->make_up_for_abandoned();
  }

  Group& group() { return group_; }

  Participation& participation() { return participation_; }

 private:
  /// How far the backward under way concerns this module.
  enum class Concern { none, reached, ended };

  sync::BucketOptions bucket_options() const {
    return {options_.first_bucket_bytes, options_.bucket_bytes};
  }

  void use(std::unique_ptr<sync::Gradients> gradients) {
    const std::vector<std::size_t> unused =
        method_ ? method_->unused() : std::vector<std::size_t>();
    method_.emplace(group_, *gradients,
                    sync::DdpSettings{.algorithm = options_.algorithm,
                                      .allow_unused = options_.allow_unused,
                                      .hook = options_.hook,
                                      .unused_before = unused});
    gradients_ = std::move(gradients);
  }

  void before_backward() override {
    // The other ranks may still be waiting for it, and not come to what this backward sends.
    if (hooks_ && *unsynchronised_ == 0) method_->make_up_for_abandoned();
    begin_backward();
  }

  void admit(const ddp::BackwardCall& call) override {
    hook_again(call);
    if (complaint_.empty() || *unsynchronised_ > 0 || !call.reaches(watch_->parameters())) return;
    // Gradients might not fit any more: the other ranks are told before there are any.
    concern_ = Concern::ended;
    end_backward();
  }

  void before_nested_backward(const ddp::BackwardCall& call) override {
    hook_again(call);
    if (!complaint_.empty() && call.reaches(watch_->parameters())) concern_ = Concern::reached;
  }

  void after_backward() override {
    if (std::exchange(concern_, Concern::none) == Concern::reached && *unsynchronised_ == 0)
      end_backward();
  }

  void after_failure(const ddp::BackwardCall& call) noexcept override {
    const Concern concern = std::exchange(concern_, Concern::none);
    if (concern == Concern::ended || *unsynchronised_ > 0 || !hooks_) return;
    if (concern == Concern::reached || call.reaches(watch_->parameters())) {
      abandoned_ = true;
      frozen_.clear();
      return method_->start_abandoning();
    }
    // A function that runs a backward of its own may have led to this module, or not.
    if (call.may_hide_a_backward())
      doubt_ =
          "a backward ended by an exception there that may have been one of this module, so ranks "
          "may be at different steps";
  }

  void await_failure() noexcept override {
    if (std::exchange(abandoned_, false)) method_->await_abandoned();
  }

  bool concerns(const ddp::BackwardCall& call) const override {
    return hooks_ && call.reaches(watch_->parameters());
  }

  void begin_backward() {
    concern_ = Concern::none;
    came_.clear();
    if (hooks_ && hooks_->refresh()) hooks_were_lost_ = reloaded_ = true;
    if (watch_->moved()) reloaded_ = true;
    note_freezing();
    complaint_ = doubt_.empty() ? watch_->change() : doubt_;
    if (complaint_.empty() && hooks_) complaint_ = hooks_->shared_with_another();
  }

  /// Ranks that froze other parameters may be in backwards that do not meet: one may reach the
  /// module on this rank only.
  void note_freezing() {
    if (!hooks_) return;
    std::vector<char> now(nested_.size());
    for (std::size_t i = 0; i < now.size(); ++i) now[i] = hooks_->is_trained(i) ? 0 : 1;
    if (now == frozen_) return;
    frozen_ = std::move(now);
    method_->note_freezing(quick_hash(std::as_bytes(std::span(frozen_))));
  }

  /// A graph may be older than the last load, and newer than the one before; or older than the
  /// wrapper.
  void hook_again(const ddp::BackwardCall& call) {
    if (!hooks_ || (reordered_ && !hooks_were_lost_)) return;
    call.each_node([this](const auto& node) { hooks_->hook_again(node); });
  }

  void on_ready(std::size_t parameter) {
    if (*unsynchronised_ > 0) return method_->keep(parameter);
    require_observed();
    concern_ = Concern::reached;
    const bool again = method_->has(parameter);
    if (backwards_->depth() > 1 || again) nested_[parameter] = 1;
    if (!reordered_ && !again) came_.push_back(parameter);
    if (!participation_.has_batch) hooks_->clear(parameter);  // that of an empty batch, perhaps
    // The first backward shows whose gradients come in several parts, from backwards within it.
    if (reordered_ && nested_[parameter] == 0)
      method_->ready(parameter);
    else
      method_->partial(parameter);
  }

  void on_refused(std::size_t parameter, sync::Arrival why) {
    if (*unsynchronised_ > 0) return method_->keep(parameter, why);
    require_observed();
    concern_ = Concern::reached;
    method_->refuse(parameter, why);
  }

  /// A backward came to a parameter and brought nothing.
  void on_reached() {
    if (*unsynchronised_ > 0) return;
    require_observed();
    concern_ = Concern::reached;
  }

  void require_observed() const {
    if (backwards_->depth() == 0)
      throw UsageError(
          "backward runs on another thread than the one that made the DistributedDataParallel, or "
          "in another autograd engine: make it on the thread that trains");
  }

  void end_backward() {
    if (!method_)
      throw Error(fmt::format(
          "rank {} found that {}: gradients are not averaged; wrap the module again on every rank",
          group_.rank(), complaint_));
    if (!complaint_.empty()) method_->complain(complaint_);
    if (reloaded_) method_->tell_reloaded();
    try {
      const std::vector<std::size_t> missing = method_->without_gradient();
      hooks_->settle(missing);
      stand_in_for(missing);
    } catch (...) {  // a bucket hook threw, say
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
    if (participation_.scale != 1) scale_gradients();
    hooks_->restore(method_->unused());
    if (method_->reloaded()) require_same_values();
    if (options_.broadcast_buffers) sync_buffers();
    if (!reordered_) reorder();
    comm::note_step(++step_);
  }

  /// Says why there are no gradients. Without a batch there are zeros, which count as gradients
  /// where there must be some.
  void stand_in_for(const std::vector<std::size_t>& missing) {
    for (std::size_t parameter : missing) {
      if (hooks_->has_gradient(parameter)) method_->hold(parameter);
      if (!hooks_->is_trained(parameter)) {
        method_->freeze(parameter);
      } else if (!participation_.has_batch) {
        hooks_->clear(parameter);
        if (!options_.allow_unused) method_->ready(parameter);
      }
    }
  }

  void broadcast_all() {
    ddp::broadcast_tensors(group_, parameters_);
    ddp::broadcast_tensors(group_, buffers_);
  }

  /// Parameters of some rank may have been loaded from a file.
  void require_same_values() {
    try {
      sync::require_same_on_all(
          group_, ddp::describe_values(*module_),
          "the ranks' parameters differ since they were loaded or replaced",
          "Load the same file on every rank, or call sync_parameters() to copy rank 0's to all");
    } catch (const MismatchError&) {
      method_->discard();
      throw;
    }
    reloaded_ = false;
  }

  void scale_gradients() {
    for (std::size_t bucket = 0; bucket < gradients_->layout().buckets().size(); ++bucket) {
      const ArrayView values = gradients_->bucket(bucket);
      ddp::tensor_over(values, {static_cast<std::int64_t>(values.count)})
          .mul_(participation_.scale);
    }
  }

  /// Gradients move into the order in which they came on rank 0, so that buckets are complete in
  /// their order.
  void reorder() {
    reordered_ = true;
    const auto& parameters = gradients_->parameters();
    const sync::Layout& old = gradients_->layout();
    std::vector<char> came(parameters.size());
    for (std::size_t i : came_) came[i] = 1;
    std::vector<std::int64_t> order(came_.begin(), came_.end());
    for (std::size_t i : old.order())
      if (came[i] == 0) order.push_back(static_cast<std::int64_t>(i));
    group_.broadcast(order);
    const std::vector<std::size_t> numbers(order.begin(), order.end());
    if (numbers == old.order()) return;
    auto moved = std::make_unique<sync::Gradients>(
        group_, parameters, sync::Layout(parameters, DataType::float32, bucket_options(), numbers));
    hooks_->move_to(*moved);
    use(std::move(moved));
  }

  Group group_;
  const DdpOptions options_;
  const std::shared_ptr<const torch::nn::Module> module_;
  const std::vector<torch::Tensor> parameters_;
  const std::vector<torch::Tensor> buffers_;
  std::optional<ddp::ModuleWatch> watch_;
  const std::shared_ptr<int> unsynchronised_ = std::make_shared<int>(0);
  std::unique_ptr<sync::Gradients> gradients_;
  std::optional<sync::Ddp> method_;
  std::optional<ddp::GradientHooks> hooks_;
  std::optional<ddp::ObserveBackward> backwards_;
  Concern concern_ = Concern::none;
  std::string complaint_;         ///< why the backward under way cannot be synchronised; or empty
  std::string doubt_;             ///< the same for all backwards from now on
  bool hooks_were_lost_ = false;  ///< a parameter was loaded since the module was wrapped
  bool reloaded_ = false;         ///< values may differ between ranks until they are compared
  /// By parameter: when the last backward began. Empty after an error, which is one on all ranks:
  /// then the ranks compare it anew.
  std::vector<char> frozen_;
  std::vector<char> nested_;       ///< by parameter: a backward within a backward adds to it
  std::vector<std::size_t> came_;  ///< parameters, as their gradients came in the first backward
  bool reordered_ = false;
  bool abandoned_ = false;  ///< a backward that has just failed
  std::uint64_t step_ = 1;  ///< a step ends with its backward
  Participation participation_;
};

DistributedDataParallel::DistributedDataParallel(std::shared_ptr<torch::nn::Module> module,
                                                 Group group, const DdpOptions& options) {
  if (!module) throw UsageError("DistributedDataParallel needs a module");
  implementation_ = std::make_unique<Implementation>(module, std::move(group), options);
}

DistributedDataParallel::~DistributedDataParallel() = default;

DistributedDataParallel::NoSync DistributedDataParallel::no_sync() {
  return implementation_->no_sync();
}

void DistributedDataParallel::backward_without_batch() {
  implementation_->backward_without_batch();
}

void DistributedDataParallel::sync_parameters() {
  implementation_->sync_parameters();
}

void DistributedDataParallel::sync_buffers() {
  implementation_->sync_buffers();
}

Group& DistributedDataParallel::group() {
  return implementation_->group();
}

void DistributedDataParallel::catch_up() {
  implementation_->catch_up();
}

DistributedDataParallel::Participation& DistributedDataParallel::participation() {
  return implementation_->participation();
}

}  // namespace lockstep
