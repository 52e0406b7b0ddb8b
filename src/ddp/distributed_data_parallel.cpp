#include <lockstep/ddp.h>
#include <lockstep/error.h>

#include "ddp/backward_sync.h"
#include "ddp/module_state.h"
#include "sync/same_on_all.h"

#include <fmt/format.h>

#include <optional>

namespace lockstep {

using namespace internal;

namespace {

/// Everything that must be the same on all ranks, one line each.
std::vector<std::string> describe(const torch::nn::Module& module, const DdpOptions& options) {
  std::vector<std::string> lines{fmt::format(
      "options: buckets of {} and {} bytes, algorithm {}, allow_unused {}, broadcast_buffers {}, "
      "{}",
      options.first_bucket_bytes, options.bucket_bytes, name_of(options.algorithm),
      options.allow_unused, options.broadcast_buffers, options.hook ? "a hook" : "no hook")};
  for (std::string& line : ddp::describe_tensors(module)) lines.push_back(std::move(line));
  return lines;
}

/// A wrapper's collectives run on several threads, in its own order: its own group separates them
/// from those of other wrappers and of the user.
Group own_group(const torch::nn::Module& module, Group group, const DdpOptions& options) {
  sync::require_same_on_all(
      group, describe(module, options), "the ranks wrap different modules",
      "Construct the module with the same parameters and buffers, and wrap it with the same "
      "options, on every rank");
  return group.size() > 1 ? group.split(0) : group;
}

}  // namespace

class DistributedDataParallel::Implementation {
 public:
  Implementation(const std::shared_ptr<torch::nn::Module>& module, Group group,
                 const DdpOptions& options)
      : group_(own_group(*module, std::move(group), options)),
        options_(options),
        module_(module),
        parameters_(module->parameters()),
        buffers_(module->buffers()) {
    // All ranks have the same module, so the following fails on all ranks or on none.
    ddp::require_dense_in_main_memory(*module);
    ddp::describe(*module);  // throws for types that cannot be averaged
    broadcast_all();
    if (group_.size() == 1) return;  // nothing to average
    backwards_.emplace(ddp::BackwardSync::Wrapper{.group = group_,
                                                  .options = options_,
                                                  .module = module_,
                                                  .participation = participation_,
                                                  .unsynchronised = *unsynchronised_,
                                                  .broadcast_buffers = [this] { sync_buffers(); }});
  }

  NoSync no_sync() { return NoSync(unsynchronised_); }

  void backward_without_batch() {
    if (backwards_) backwards_->run_without_batch();
  }

  void sync_parameters() {
    catch_up();
    sync::require_same_on_all(group_, ddp::describe_tensors(*module_, false),
                              "the ranks' modules have become different",
                              "Make the same change to the module on every rank");
    if (backwards_) backwards_->accept_new_values();
    broadcast_all();
  }

  void sync_buffers() {
    catch_up();
    ddp::broadcast_tensors(group_, buffers_, participation_.first);
  }

  void catch_up() {
    if (backwards_) backwards_->complete_abandoned();
  }

  Group& group() { return group_; }

  Participation& participation() { return participation_; }

 private:
  void broadcast_all() {
    ddp::broadcast_tensors(group_, parameters_);
    ddp::broadcast_tensors(group_, buffers_);
  }

  Group group_;
  const DdpOptions options_;
  const std::shared_ptr<const torch::nn::Module> module_;
  const std::vector<torch::Tensor> parameters_;
  const std::vector<torch::Tensor> buffers_;
  const std::shared_ptr<int> unsynchronised_ = std::make_shared<int>(0);
  Participation participation_;
  std::optional<ddp::BackwardSync> backwards_;  ///< none in a group of one
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
