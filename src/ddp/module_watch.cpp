#include "ddp/module_watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace lockstep::ddp {

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
      buffers_(known(module_->named_buffers())),
      data_(parameters_.size()) {
  moved();
}

bool ModuleWatch::moved() {
  bool moved = false;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const void* now = parameters_[i].tensor.data_ptr();
    moved |= std::exchange(data_[i], now) != now;
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

bool ModuleWatch::is_registered_alike() const {
  std::size_t parameters = 0;
  std::size_t buffers = 0;
  // Without names, which take most of the time of parameters().
  const std::function<bool(const torch::nn::Module&)> alike = [&](const torch::nn::Module& module) {
    for (const torch::Tensor& tensor : module.parameters(false))
      if (parameters == parameters_.size() || !parameters_[parameters++].tensor.is_same(tensor))
        return false;
    for (const torch::Tensor& tensor : module.buffers(false))
      if (buffers == buffers_.size() || !buffers_[buffers++].tensor.is_same(tensor)) return false;
    for (const auto& child : module.children())
      if (!alike(*child)) return false;
    return true;
  };
  return alike(*module_) && parameters == parameters_.size() && buffers == buffers_.size();
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

std::string ModuleWatch::change_of(const Known& parameter) {
  const torch::Tensor& now = parameter.tensor;
  if (now.requires_grad() && !parameter.trained)
    return fmt::format(
        "parameter '{}' is trained now but was frozen when the module was wrapped, so its gradient "
        "is not averaged",
        parameter.name);
  if (now.sizes() == parameter.shape && now.dtype() == parameter.options.dtype() &&
      now.device() == parameter.options.device() && now.layout() == parameter.options.layout())
    return {};
  return fmt::format("parameter '{}' is {} now and was {} when the module was wrapped",
                     parameter.name, describe(now.sizes(), now.options()),
                     describe(parameter.shape, parameter.options));
}

std::string ModuleWatch::change() const {
  if (!is_registered_alike()) {
    std::string change = registration("parameter", parameters_, module_->named_parameters());
    if (change.empty()) change = registration("buffer", buffers_, module_->named_buffers());
    return change.empty() ? "layers were put in another order after the module was wrapped"
                          : change;
  }
  for (const Known& parameter : parameters_)
    if (std::string change = change_of(parameter); !change.empty()) return change;
  return {};
}

std::unordered_set<const void*> ModuleWatch::parameters() const {
  std::unordered_set<const void*> tensors;
  for (const torch::Tensor& parameter : module_->parameters())
    tensors.insert(parameter.unsafeGetTensorImpl());
  return tensors;
}

}  // namespace lockstep::ddp
