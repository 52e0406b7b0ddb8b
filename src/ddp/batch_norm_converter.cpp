#include "ddp/batch_norm_converter.h"

#include <lockstep/error.h>

#include "base/check.h"
#include "base/text.h"

#include <fmt/format.h>

#include <typeinfo>

namespace lockstep::internal::ddp {

namespace nn = torch::nn;

namespace {

/// Exact types only: a derived class may compute something else.
template <typename Class>
bool is_exactly(const nn::Module& module) {
  return typeid(module) == typeid(Class);
}
bool can_be_replaced(const nn::Module& module) {
  return is_exactly<nn::BatchNorm1dImpl>(module) || is_exactly<nn::BatchNorm2dImpl>(module) ||
         is_exactly<nn::BatchNorm3dImpl>(module);
}

template <typename Class>
bool is_a(const nn::Module& module) {
  return dynamic_cast<const Class*>(&module) != nullptr;
}
bool is_batch_norm(const nn::Module& module) {
  return is_a<nn::BatchNorm1dImpl>(module) || is_a<nn::BatchNorm2dImpl>(module) ||
         is_a<nn::BatchNorm3dImpl>(module);
}

std::string name_of_child(const std::string& parent, const std::string& child) {
  return parent.empty() ? child : parent + "." + child;
}

template <typename BatchNorm>
std::shared_ptr<SyncBatchNormImpl> replacement(const BatchNorm& old, const Group& group) {
  const BatchNormState state{old.weight, old.bias, old.running_mean, old.running_var,
                             old.num_batches_tracked};
  auto fresh = std::make_shared<SyncBatchNormImpl>(old.options, group, state);
  fresh->train(old.is_training());
  return fresh;
}

}  // namespace

BatchNormConverter::BatchNormConverter(nn::Module& module) {
  visit(module, "");
  if (!stuck_.empty())
    throw UsageError(fmt::format(
        "batch norm outside of a Sequential cannot be replaced, because the forward() that uses it "
        "calls the member and not the registered module: declare {} as lockstep::SyncBatchNorm, "
        "which behaves as torch's batch norm until it has a group",
        enumerate(stuck_)));
}

void BatchNormConverter::visit(nn::Module& module, const std::string& name) {
  if (auto* layer = dynamic_cast<SyncBatchNormImpl*>(&module))
    ready_.insert(layer);
  else if (is_batch_norm(module))
    stuck_.push_back(name.empty() ? "the module itself" : name);
  else if (seen_.insert(&module).second)
    visit_children(module, name);
}

void BatchNormConverter::visit_children(nn::Module& module, const std::string& name) {
  auto* sequential = dynamic_cast<nn::SequentialImpl*>(&module);
  std::size_t index = 0;
  for (const auto& child : module.named_children()) {
    const std::string its_name = name_of_child(name, child.key());
    // A Sequential registers its layers in order.
    const bool layer =
        sequential && index < sequential->size() && sequential->ptr(index) == child.value();
    if (layer && can_be_replaced(*child.value()))
      places_[child.value()].push_back({sequential, index, child.key()});
    else
      visit(*child.value(), its_name);
    ++index;
  }
}

void BatchNormConverter::use(const Group& group) {
  for (SyncBatchNormImpl* layer : ready_) layer->set_group(group);
  for (const auto& [old, places] : places_) {
    std::shared_ptr<SyncBatchNormImpl> fresh;
    if (const auto* one = old->as<nn::BatchNorm1d>()) fresh = replacement(*one, group);
    if (const auto* two = old->as<nn::BatchNorm2d>()) fresh = replacement(*two, group);
    if (const auto* three = old->as<nn::BatchNorm3d>()) fresh = replacement(*three, group);
    LOCKSTEP_CHECK(fresh, "{} is not a batch norm", old->name());
    for (const Place& place : places) {
      *(place.owner->begin() + static_cast<std::ptrdiff_t>(place.index)) = nn::AnyModule(fresh);
      place.owner->replace_module(place.name, fresh);
    }
  }
}

}  // namespace lockstep::internal::ddp

namespace lockstep {

using namespace internal;

std::size_t convert_sync_batch_norm(torch::nn::Module& module, Group group) {
  ddp::BatchNormConverter converter(module);
  converter.use(group.size() > 1 ? group.split(0) : group);
  return converter.layers();
}

}  // namespace lockstep
