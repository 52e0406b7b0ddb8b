#include "ddp/gradient_hooks.h"

#include "base/check.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <unordered_set>

namespace lockstep::ddp {

namespace {

using torch::autograd::variable_list;

/// Calls a function with what a node of the autograd graph was given, after the node has run; and
/// changes nothing.
class CallAfter : public torch::autograd::FunctionPostHook {
 public:
  explicit CallAfter(std::function<void(const torch::Tensor& incoming)> function)
      : function_(std::move(function)) {}

  variable_list operator()(const variable_list& outputs, const variable_list& inputs) override {
    function_(inputs[0]);
    return outputs;
  }

 private:
  std::function<void(const torch::Tensor&)> function_;
};

torch::ScalarType scalar_type(DataType type) {
  LOCKSTEP_CHECK(type == DataType::float32 || type == DataType::float64, "{} has no gradients",
                 name_of(type));
  return type == DataType::float32 ? torch::kFloat32 : torch::kFloat64;
}

}  // namespace

GradientHooks::GradientHooks(std::vector<torch::Tensor> parameters,
                             const sync::Gradients& gradients, Ready ready, Refuse refuse)
    : parameters_(std::move(parameters)),
      ready_(std::move(ready)),
      refuse_(std::move(refuse)),
      names_(gradients.parameters()) {
  torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    places_.push_back(tensor_over(gradients.of(i), parameters_[i].sizes(), gradients.memory()));
    if (parameters_[i].grad().defined()) places_[i].copy_(parameters_[i].grad());
    parameters_[i].mutable_grad() = places_[i];
    Hook hook{torch::autograd::impl::grad_accumulator(parameters_[i]), 0};
    hook.key = hook.accumulator->add_post_hook(std::make_unique<CallAfter>(
        [this, i](const torch::Tensor& incoming) { on_gradient(i, incoming); }));
    hooks_.push_back(std::move(hook));
  }
}

GradientHooks::~GradientHooks() {
  for (Hook& hook : hooks_) hook.accumulator->del_post_hook(hook.key);
  // Gradients of now on are ordinary tensors again.
  for (torch::Tensor& parameter : parameters_) parameter.mutable_grad() = torch::Tensor();
}

bool GradientHooks::is_in_place(std::size_t parameter) const {
  const torch::Tensor& gradient = parameters_[parameter].grad();
  return gradient.layout() == torch::kStrided &&
         gradient.data_ptr() == places_[parameter].data_ptr() &&
         gradient.strides() == places_[parameter].strides();
}

void GradientHooks::put_in_place(std::size_t parameter) {
  if (is_in_place(parameter)) return;
  torch::NoGradGuard no_grad;
  places_[parameter].copy_(parameters_[parameter].grad());
  parameters_[parameter].mutable_grad() = places_[parameter];
}

void GradientHooks::on_gradient(std::size_t parameter, const torch::Tensor& incoming) {
  if (!incoming.defined()) return;  // a function that has no gradient to give
  if (incoming.layout() != torch::kStrided) return refuse(parameter, sync::Arrival::sparse);
  if (parameters_[parameter].grad().requires_grad())
    return refuse(parameter, sync::Arrival::with_history);
  put_in_place(parameter);
  ready_(parameter);
}

void GradientHooks::refuse(std::size_t parameter, sync::Arrival why) {
  parameters_[parameter].mutable_grad() = places_[parameter];
  if (!refuse_)
    throw Error(
        fmt::format("the gradient of {} is sparse, or part of a graph itself: only dense "
                    "gradients without one can be averaged",
                    names_[parameter].name));
  refuse_(parameter, why);
}

void GradientHooks::move_to(const sync::Gradients& gradients) {
  torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    torch::Tensor place = tensor_over(gradients.of(i), parameters_[i].sizes(), gradients.memory());
    place.copy_(places_[i]);
    places_[i] = place;
    if (parameters_[i].grad().defined()) parameters_[i].mutable_grad() = place;
  }
}

void GradientHooks::settle(const std::vector<std::size_t>& without_gradient) {
  settled_.clear();
  for (std::size_t parameter : without_gradient) {
    if (parameters_[parameter].grad().defined()) {
      put_in_place(parameter);
      settled_[parameter] = places_[parameter].clone();
    } else {
      places_[parameter].zero_();
      parameters_[parameter].mutable_grad() = places_[parameter];
      settled_[parameter] = torch::Tensor();
    }
  }
}

void GradientHooks::restore(const std::vector<std::size_t>& unused) {
  for (std::size_t parameter : unused) {
    const torch::Tensor& before = settled_.at(parameter);
    if (before.defined())
      places_[parameter].copy_(before);
    else
      parameters_[parameter].mutable_grad() = torch::Tensor();
  }
  settled_.clear();
}

torch::OrderedDict<std::string, torch::Tensor> trained_parameters(const torch::nn::Module& module) {
  torch::OrderedDict<std::string, torch::Tensor> trained;
  std::unordered_set<const void*> seen;
  for (const auto& item : module.named_parameters())
    if (item->requires_grad() && seen.insert(item->unsafeGetTensorImpl()).second)
      trained.insert(item.key(), item.value());
  return trained;
}

std::vector<sync::Parameter> describe(const torch::nn::Module& module) {
  std::vector<sync::Parameter> parameters;
  for (const auto& item : trained_parameters(module))
    parameters.push_back({.name = item.key(),
                          .count = static_cast<std::size_t>(item.value().numel()),
                          .rows = item->dim() > 0 ? static_cast<std::size_t>(item->size(0)) : 0});
  return parameters;
}

DataType type_of(const torch::nn::Module& module) {
  DataType type = DataType::float32;
  bool first = true;
  for (const auto& item : trained_parameters(module)) {
    const torch::Tensor& parameter = item.value();
    if (!parameter.device().is_cpu() || parameter.layout() != torch::kStrided)
      throw UsageError(
          fmt::format("parameter '{}' is not a dense tensor in main memory", item.key()));
    const bool single = parameter.scalar_type() == torch::kFloat32;
    if (!single && parameter.scalar_type() != torch::kFloat64)
      throw UsageError(
          fmt::format("parameter '{}' is of type {}: only float32 and float64 can be "
                      "synchronised",
                      item.key(), torch::toString(parameter.scalar_type())));
    const DataType its = single ? DataType::float32 : DataType::float64;
    if (!first && its != type)
      throw UsageError(
          fmt::format("parameter '{}' is {} while those before it are {}: all must be "
                      "of one type",
                      item.key(), name_of(its), name_of(type)));
    type = its;
    first = false;
  }
  return type;
}

torch::Tensor tensor_over(const ArrayView& memory, torch::IntArrayRef shape, const Memory& owner) {
  const auto options = torch::dtype(scalar_type(memory.type));
  return torch::from_blob(
      memory.data, shape, [owner](void*) {}, options);
}

}  // namespace lockstep::ddp
