#include "ddp/module_watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace lockstep::internal::ddp {

namespace {

std::string describe(torch::IntArrayRef shape, const torch::TensorOptions& options) {
  const std::string device = options.device().is_cpu() ? "" : " on " + options.device().str();
  return fmt::format("[{}] {}{}{}", fmt::join(shape.vec(), ", "),
                     torch::toString(c10::typeMetaToScalarType(options.dtype())), device,
                     options.layout() == torch::kStrided ? "" : ", not dense");
}

}  // namespace

ModuleWatch::ModuleWatch(std::shared_ptr<const torch::nn::Module> module)
    : module_(std::move(module)),
      parameters_(known(module_->named_parameters())),
      buffers_(known(module_->named_buffers())) {
  moved();
}

bool ModuleWatch::moved() {
  const bool first = places_.empty();
  bool moved = false;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const torch::Tensor& now = parameters_[i].tensor;
    if (first) {
      places_.push_back({now.storage(), now.storage_offset(), now.strides().vec()});
      continue;
    }
    Place& then = places_[i];
    if (then.storage.is_alias_of(now.storage()) && then.offset == now.storage_offset() &&
        now.strides() == then.strides)
      continue;
    then = {now.storage(), now.storage_offset(), now.strides().vec()};
    moved = true;
  }
  return moved;
}

std::vector<ModuleWatch::Known> ModuleWatch::known(
    const torch::OrderedDict<std::string, torch::Tensor>& tensors) {
  std::vector<Known> all;
  for (const auto& item : tensors)
    all.push_back(
        {item.key(), item.value(), item->sizes().vec(), item->options(), item->requires_grad()});
  return all;
}

bool ModuleWatch::is_registered_the_same() const {
  std::size_t parameters = 0;
  std::size_t buffers = 0;
  // Compares without names, which take most of the time of parameters().
  const std::function<bool(const torch::nn::Module&)> same = [&](const torch::nn::Module& module) {
    for (const torch::Tensor& tensor : module.parameters(false))
      if (parameters == parameters_.size() || !parameters_[parameters++].tensor.is_same(tensor))
        return false;
    for (const torch::Tensor& tensor : module.buffers(false))
      if (buffers == buffers_.size() || !buffers_[buffers++].tensor.is_same(tensor)) return false;
    for (const auto& child : module.children())
      if (!same(*child)) return false;
    return true;
  };
  return same(*module_) && parameters == parameters_.size() && buffers == buffers_.size();
}

std::string ModuleWatch::registration(std::string_view kind, const std::vector<Known>& then,
                                      const torch::OrderedDict<std::string, torch::Tensor>& now) {
  for (const Known& before : then) {
    const torch::Tensor* found = now.find(before.name);
    if (!found)
      return fmt::format("{} '{}' was removed after the module was wrapped", kind, before.name);
    if (!found->is_same(before.tensor))
      return fmt::format("{} '{}' was replaced by another tensor after the module was wrapped",
                         kind, before.name);
  }
  for (const auto& item : now) {
    const auto named = [&](const Known& before) { return before.name == item.key(); };
    if (std::none_of(then.begin(), then.end(), named))
      return fmt::format("{} '{}' was registered after the module was wrapped", kind, item.key());
  }
  return {};
}

std::string ModuleWatch::change_of(std::string_view kind, const Known& known) {
  const torch::Tensor& now = known.tensor;
  if (now.requires_grad() && !known.trained)
    return fmt::format(
        "{} '{}' is trained now but was frozen when the module was wrapped, so its gradient is not "
        "averaged",
        kind, known.name);
  if (now.sizes() == known.shape && now.dtype() == known.options.dtype() &&
      now.device() == known.options.device() && now.layout() == known.options.layout())
    return {};
  return fmt::format("{} '{}' is {} now and was {} when the module was wrapped", kind, known.name,
                     describe(now.sizes(), now.options()), describe(known.shape, known.options));
}

std::string ModuleWatch::change() const {
  if (!is_registered_the_same()) {
    std::string change = registration("parameter", parameters_, module_->named_parameters());
    if (change.empty()) change = registration("buffer", buffers_, module_->named_buffers());
    return change.empty() ? "layers were reordered after the module was wrapped" : change;
  }
  for (const Known& parameter : parameters_)
    if (std::string change = change_of("parameter", parameter); !change.empty()) return change;
  for (const Known& buffer : buffers_)
    if (std::string change = change_of("buffer", buffer); !change.empty()) return change;
  return {};
}

std::unordered_set<const void*> ModuleWatch::parameters() const {
  std::unordered_set<const void*> tensors;
  for (const torch::Tensor& parameter : module_->parameters())
    tensors.insert(parameter.unsafeGetTensorImpl());
  return tensors;
}

}  // namespace lockstep::internal::ddp
