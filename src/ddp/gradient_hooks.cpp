#include "ddp/gradient_hooks.h"

#include "base/check.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

namespace lockstep::internal::ddp {

namespace {

using torch::autograd::variable_list;

/// Calls a function with the inputs of a node of the autograd graph, after the node has run.
/// Changes nothing.
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

/// Types of parameters that can be averaged.
constexpr std::array<std::pair<DataType, torch::ScalarType>, 4> kTypes{
    {{DataType::float32, torch::kFloat32},
     {DataType::float64, torch::kFloat64},
     {DataType::float16, torch::kFloat16},
     {DataType::bfloat16, torch::kBFloat16}}};

torch::ScalarType scalar_type(DataType type) {
  for (const auto& [ours, theirs] : kTypes)
    if (ours == type) return theirs;
  LOCKSTEP_CHECK(false, "{} has no gradients", name_of(type));
}

DataType type_of(const std::string& name, const torch::Tensor& parameter) {
  if (!parameter.device().is_cpu() || parameter.layout() != torch::kStrided)
    throw UsageError(fmt::format("parameter '{}' is not a dense tensor in main memory", name));
  for (const auto& [ours, theirs] : kTypes)
    if (theirs == parameter.scalar_type()) return ours;
  throw UsageError(
      fmt::format("parameter '{}' is of type {}: only float32, float64, float16 and bfloat16 can "
                  "be averaged",
                  name, torch::toString(parameter.scalar_type())));
}

}  // namespace

GradientHooks::GradientHooks(std::vector<torch::Tensor> parameters,
                             const sync::Gradients& gradients, Ready ready, Refuse refuse,
                             Reached reached)
    : parameters_(std::move(parameters)),
      ready_(std::move(ready)),
      refuse_(std::move(refuse)),
      reached_(std::move(reached)),
      names_(gradients.parameters()) {
  torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    places_.push_back(place_of(i, gradients));
    if (parameters_[i].grad().defined()) put_in_place(i);
    hooks_.push_back(hook(i, torch::autograd::impl::grad_accumulator(parameters_[i])));
  }
}

GradientHooks::Hook GradientHooks::hook(std::size_t parameter, Accumulator accumulator) {
  const std::uintptr_t key = accumulator->add_post_hook(std::make_unique<CallAfter>(
      [this, parameter](const torch::Tensor& incoming) { on_gradient(parameter, incoming); }));
  return {std::move(accumulator), key};
}

bool GradientHooks::refresh() {
  // Drops nodes that no graph uses any more.
  std::erase_if(old_hooks_, [](const Hook& old) { return old.accumulator.use_count() == 1; });
  bool lost = false;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].requires_grad() || !parameters_[i].is_leaf()) continue;
    Accumulator accumulator = torch::autograd::impl::grad_accumulator(parameters_[i]);
    if (accumulator == hooks_[i].accumulator) continue;
    lost = true;
    old_hooks_.push_back(std::move(hooks_[i]));
    hooks_[i] = hook(i, std::move(accumulator));
  }
  return lost;
}

void GradientHooks::hook_again(const decltype(torch::autograd::Edge::function)& node) {
  const auto* leaf = dynamic_cast<const torch::autograd::AccumulateGrad*>(node.get());
  if (!leaf) return;
  for (const auto* hooks : {&hooks_, &old_hooks_})
    for (const Hook& known : *hooks)
      if (known.accumulator == node) return;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (leaf->variable.is_same(parameters_[i])) old_hooks_.push_back(hook(i, node));
}

std::string GradientHooks::shared_with_another() const {
  const auto is_ours = [](const auto& hook) {
    return dynamic_cast<const CallAfter*>(hook.get()) != nullptr;
  };
  for (std::size_t i = 0; i < hooks_.size(); ++i) {
    const auto& all = std::as_const(*hooks_[i].accumulator).post_hooks();
    if (all.size() > 1 && std::count_if(all.begin(), all.end(), is_ours) > 1)
      return fmt::format("parameter '{}' belongs to two wrappers at the same time", names_[i].name);
  }
  return {};
}

torch::Tensor GradientHooks::place_of(std::size_t parameter,
                                      const sync::Gradients& gradients) const {
  const torch::Tensor& tensor = parameters_[parameter];
  const bool dense = tensor.is_non_overlapping_and_dense();
  return tensor_over(gradients.of(parameter), tensor.sizes(), gradients.memory(),
                     dense ? tensor.strides() : torch::IntArrayRef());
}

GradientHooks::~GradientHooks() {
  for (const auto* hooks : {&hooks_, &old_hooks_})
    for (const Hook& hook : *hooks) hook.accumulator->del_post_hook(hook.key);
  // From now on gradients are ordinary tensors again.
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
  // The parameter has another shape now: the caller has to detect this.
  if (parameters_[parameter].grad().sizes() != places_[parameter].sizes()) return;
  torch::NoGradGuard no_grad;
  places_[parameter].copy_(parameters_[parameter].grad());
  parameters_[parameter].mutable_grad() = places_[parameter];
}

void GradientHooks::on_gradient(std::size_t parameter, const torch::Tensor& incoming) {
  // A function gave no gradient; or the parameter was frozen after the forward pass, and torch adds
  // nothing to its gradient.
  if (!incoming.defined() || !parameters_[parameter].requires_grad()) {
    if (reached_) reached_();
    return;
  }
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
        fmt::format("the gradient of {} is sparse, or part of a graph itself: only dense gradients "
                    "without a graph can be averaged",
                    names_[parameter].name));
  refuse_(parameter, why);
}

void GradientHooks::move_to(const sync::Gradients& gradients) {
  torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    // The parameter's strides may have changed, for example by a load on one rank: keep those of
    // all ranks.
    torch::Tensor place =
        tensor_over(gradients.of(i), places_[i].sizes(), gradients.memory(), places_[i].strides());
    place.copy_(places_[i]);
    places_[i] = place;
    if (parameters_[i].grad().defined()) parameters_[i].mutable_grad() = place;
  }
}

void GradientHooks::fill_missing(const std::vector<std::size_t>& without_gradient) {
  stored_.clear();
  for (std::size_t parameter : without_gradient) {
    if (parameters_[parameter].grad().defined()) {
      put_in_place(parameter);
      stored_[parameter] = places_[parameter].clone();
    } else {
      places_[parameter].zero_();
      stored_[parameter] = torch::Tensor();
    }
  }
}

void GradientHooks::restore(const std::vector<std::size_t>& unused) {
  for (std::size_t parameter : unused) {
    const torch::Tensor& before = stored_.at(parameter);
    if (before.defined()) places_[parameter].copy_(before);
    stored_.erase(parameter);
  }
  for (const auto& [parameter, before] : stored_)
    parameters_[parameter].mutable_grad() = places_[parameter];
  stored_.clear();
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
                          .rows = item->dim() > 0 && item->is_contiguous()
                                      ? static_cast<std::size_t>(item->size(0))
                                      : 0,
                          .type = type_of(item.key(), item.value())});
  return parameters;
}

torch::Tensor tensor_over(const ArrayView& memory, torch::IntArrayRef shape, const Memory& owner,
                          torch::IntArrayRef strides) {
  const auto options = torch::dtype(scalar_type(memory.type));
  if (!strides.empty())
    return torch::from_blob(
        memory.data, shape, strides, [owner](void*) {}, options);
  return torch::from_blob(
      memory.data, shape, [owner](void*) {}, options);
}

}  // namespace lockstep::internal::ddp
