#include "ddp/gradient_hooks.h"

#include "base/check.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/variable.h>

#include <unordered_set>

namespace lockstep::ddp {

namespace {

using torch::autograd::variable_list;

/// Calls a function after a node of the autograd graph has run, and changes nothing.
class CallAfter : public torch::autograd::FunctionPostHook {
 public:
  explicit CallAfter(std::function<void()> function) : function_(std::move(function)) {}

  variable_list operator()(const variable_list& outputs, const variable_list&) override {
    function_();
    return outputs;
  }

 private:
  std::function<void()> function_;
};

torch::ScalarType scalar_type(DataType type) {
  LOCKSTEP_CHECK(type == DataType::float32 || type == DataType::float64, "{} has no gradients",
                 name_of(type));
  return type == DataType::float32 ? torch::kFloat32 : torch::kFloat64;
}

}  // namespace

GradientHooks::GradientHooks(std::vector<torch::Tensor> parameters,
                             const sync::Gradients& gradients, Ready ready)
    : parameters_(std::move(parameters)), ready_(std::move(ready)) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    torch::Tensor& parameter = parameters_[i];
    places_.push_back(tensor_over(gradients.of(i), parameter.sizes()));
    parameter.mutable_grad() = places_[i];
    Hook hook{torch::autograd::impl::grad_accumulator(parameter), 0};
    hook.key =
        hook.accumulator->add_post_hook(std::make_unique<CallAfter>([this, i] { on_gradient(i); }));
    hooks_.push_back(std::move(hook));
  }
}

GradientHooks::~GradientHooks() {
  for (Hook& hook : hooks_) hook.accumulator->del_post_hook(hook.key);
  // The flat memory may go; gradients go with it.
  for (torch::Tensor& parameter : parameters_) parameter.mutable_grad() = torch::Tensor();
}

void GradientHooks::on_gradient(std::size_t parameter) {
  torch::Tensor& gradient = parameters_[parameter].mutable_grad();
  if (gradient.data_ptr() != places_[parameter].data_ptr()) {
    torch::NoGradGuard no_grad;
    places_[parameter].copy_(gradient);
    gradient = places_[parameter];
  }
  ready_(parameter);
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
    parameters.push_back({item.key(), static_cast<std::size_t>(item.value().numel())});
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

torch::Tensor tensor_over(const ArrayView& memory, torch::IntArrayRef shape) {
  return torch::from_blob(memory.data, shape, torch::dtype(scalar_type(memory.type)));
}

}  // namespace lockstep::ddp
