#include <lockstep/ddp.h>
#include <lockstep/error.h>

#include "comm/flight/flight_recorder.h"
#include "ddp/gradient_hooks.h"
#include "ddp/module_state.h"
#include "ddp/participation.h"
#include "sync/ddp.h"
#include "sync/same_on_all.h"

#include <fmt/format.h>
#include <torch/csrc/autograd/engine.h>

#include <optional>

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

}  // namespace

class DistributedDataParallel::Implementation {
 public:
  Implementation(const torch::nn::Module& module, Group group, const DdpOptions& options)
      : group_(std::move(group)), options_(options), buffers_(module.buffers()) {
    sync::require_same_on_all(
        group_, describe(module, options), "the ranks wrap different modules",
        "Construct the module with the same parameters and buffers, and wrap it with the same "
        "options, on every rank");
    // All ranks have the same, so what follows fails on all or on none.
    ddp::require_dense_in_main_memory(module);
    const DataType type = ddp::type_of(module);
    ddp::broadcast_tensors(group_, module.parameters());
    ddp::broadcast_tensors(group_, buffers_);
    for (const auto& item : module.named_parameters())
      if (!item->requires_grad()) frozen_.insert(item.key(), item.value());
    const auto trained = ddp::trained_parameters(module);
    if (group_.size() == 1 || trained.is_empty()) return;  // nothing to average
    use(std::make_unique<sync::Gradients>(
        group_, ddp::describe(module),
        sync::Layout(ddp::describe(module), type, bucket_options())));
    hooks_.emplace(
        trained.values(), *gradients_, [this](std::size_t i) { on_ready(i); },
        [this](std::size_t i, sync::Arrival why) { on_refused(i, why); });
    comm::note_step(step_);
  }

  NoSync no_sync() { return NoSync(unsynchronised_); }

  void backward_without_batch() {
    if (*unsynchronised_ > 0 || !hooks_) return;
    came_.clear();
    on_backward_end();
  }

  void sync_buffers() { ddp::broadcast_tensors(group_, buffers_, participation_.first); }

  Group& group() { return group_; }

  Participation& participation() { return participation_; }

 private:
  /// Lives as long as the backward under way: torch drops its callbacks with the backward that they
  /// belong to, however it ends.
  struct Backward {
    explicit Backward(Implementation& owner) : owner(owner) {}
    ~Backward() {
      if (!ended) owner.method_->abandon();
    }
    Backward(const Backward&) = delete;
    Backward& operator=(const Backward&) = delete;

    Implementation& owner;
    bool ended = false;
  };

  sync::BucketOptions bucket_options() const {
    return {options_.first_bucket_bytes, options_.bucket_bytes};
  }

  void use(std::unique_ptr<sync::Gradients> gradients) {
    method_.emplace(group_, *gradients,
                    sync::DdpSettings{.algorithm = options_.algorithm,
                                      .allow_unused = options_.allow_unused,
                                      .hook = options_.hook});
    gradients_ = std::move(gradients);
  }

  void on_ready(std::size_t parameter) {
    if (*unsynchronised_ > 0) return method_->keep(parameter);
    begin_backward();
    if (!reordered_) came_.push_back(parameter);
    if (!participation_.has_batch) hooks_->clear(parameter);  // that of an empty batch, perhaps
    method_->ready(parameter);
  }

  void on_refused(std::size_t parameter, sync::Arrival why) {
    if (*unsynchronised_ > 0) return method_->keep(parameter, why);
    begin_backward();
    method_->refuse(parameter, why);
  }

  void begin_backward() {
    if (!backward_.expired()) return;
    auto backward = std::make_shared<Backward>(*this);
    backward_ = backward;
    came_.clear();
    torch::autograd::Engine::get_default_engine().queue_callback([this, backward] {
      backward->ended = true;
      on_backward_end();
    });
  }

  void on_backward_end() {
    backward_.reset();
    const std::vector<std::size_t> missing = method_->without_gradient();
    hooks_->settle(missing);
    if (!participation_.has_batch) stand_in_for(missing);
    method_->finish();
    if (participation_.scale != 1) scale_gradients();
    hooks_->restore(method_->unused());
    if (options_.broadcast_buffers) sync_buffers();
    if (!reordered_) reorder();
    comm::note_step(++step_);
    require_frozen();
  }

  /// Zeros, which count as gradients where there must be some.
  void stand_in_for(const std::vector<std::size_t>& missing) {
    for (std::size_t parameter : missing) {
      hooks_->clear(parameter);
      if (!options_.allow_unused) method_->ready(parameter);
    }
  }

  void scale_gradients() {
    const ArrayView all = gradients_->all();
    ddp::tensor_over(all, {static_cast<std::int64_t>(all.count)}).mul_(participation_.scale);
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
        group_, parameters, sync::Layout(parameters, old.type(), bucket_options(), numbers));
    hooks_->move_to(*moved);
    use(std::move(moved));
  }

  void require_frozen() const {
    for (const auto& item : frozen_)
      if (item->requires_grad())
        throw Error(fmt::format(
            "rank {}: parameter '{}' is trained now but was frozen when the module was wrapped, so "
            "its gradient is not averaged: wrap the module anew",
            group_.rank(), item.key()));
  }

  Group group_;
  const DdpOptions options_;
  const std::vector<torch::Tensor> buffers_;
  torch::OrderedDict<std::string, torch::Tensor> frozen_;
  const std::shared_ptr<int> unsynchronised_ = std::make_shared<int>(0);
  std::unique_ptr<sync::Gradients> gradients_;
  std::optional<sync::Ddp> method_;
  std::optional<ddp::GradientHooks> hooks_;
  std::weak_ptr<Backward> backward_;
  std::vector<std::size_t> came_;  ///< parameters, as their gradients came in this backward
  bool reordered_ = false;
  std::uint64_t step_ = 1;  ///< a step ends with its backward
  Participation participation_;
};

DistributedDataParallel::DistributedDataParallel(std::shared_ptr<torch::nn::Module> module,
                                                 Group group, const DdpOptions& options) {
  if (!module) throw UsageError("DistributedDataParallel needs a module");
  implementation_ = std::make_unique<Implementation>(*module, std::move(group), options);
}

DistributedDataParallel::~DistributedDataParallel() = default;

DistributedDataParallel::NoSync DistributedDataParallel::no_sync() {
  return implementation_->no_sync();
}

void DistributedDataParallel::backward_without_batch() {
  implementation_->backward_without_batch();
}

void DistributedDataParallel::sync_buffers() {
  implementation_->sync_buffers();
}

Group& DistributedDataParallel::group() {
  return implementation_->group();
}

DistributedDataParallel::Participation& DistributedDataParallel::participation() {
  return implementation_->participation();
}

}  // namespace lockstep
