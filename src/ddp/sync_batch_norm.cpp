#include <lockstep/error.h>
#include <lockstep/sync_batch_norm.h>

#include "ddp/normalisation.h"
#include "ddp/tensor_statistics.h"

#include <fmt/format.h>

#include <ostream>

namespace lockstep {

using namespace internal;

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

/// State that forward keeps for backward, in addition to tensors.
struct Kept : torch::CustomClassHolder {
  Kept(ddp::Normalisation normalisation, Group group)
      : normalisation(std::move(normalisation)), group(std::move(group)) {}

  const ddp::Normalisation normalisation;
  Group group;
};

/// A parameter's gradient from this rank's sums: averaging gradients over the ranks completes them.
torch::Tensor parameter_gradient(std::span<const double> sums, const torch::Tensor& like) {
  return torch::tensor(at::ArrayRef<double>(sums.data(), sums.size()), like.scalar_type());
}

class NormaliseTogether : public torch::autograd::Function<NormaliseTogether> {
 public:
  static Variable forward(AutogradContext* context, const Variable& input, const Variable& weight,
                          const Variable& bias, const c10::intrusive_ptr<Kept>& kept) {
    context->save_for_backward({input, weight});
    context->saved_data["kept"] = c10::IValue::make_capsule(kept);
    return ddp::normalise(input, kept->normalisation, weight, bias);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    if (torch::GradMode::is_enabled())
      throw Error("SyncBatchNorm does not support double backward: omit create_graph");
    const auto kept =
        c10::static_intrusive_pointer_cast<Kept>(context->saved_data["kept"].toCapsule());
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor &input = saved[0], &weight = saved[1];
    const torch::Tensor gradient = gradients[0].contiguous();
    std::vector<double> sums = ddp::gradient_sums(gradient, input, kept->normalisation);
    const std::span<const double> both(sums);
    const torch::Tensor of_bias = parameter_gradient(both.first(sums.size() / 2), weight);
    const torch::Tensor of_weight = parameter_gradient(both.last(sums.size() / 2), weight);
    kept->group.all_reduce(sums);
    return {ddp::input_gradient(gradient, input, kept->normalisation, weight, both), of_weight,
            of_bias, torch::Tensor()};
  }
};

/// As torch does, with the unbiased variance.
void update_running(torch::Tensor& running_mean, torch::Tensor& running_var,
                    const ddp::ChannelStatistics& statistics, double factor) {
  torch::NoGradGuard no_grad;
  std::vector<double> variance;
  for (double squares : statistics.squares) variance.push_back(squares / (statistics.count - 1));
  const auto add = [&](torch::Tensor& running, const std::vector<double>& values) {
    const torch::Tensor now = torch::tensor(values, torch::kFloat64);
    running.copy_(running.to(torch::kFloat64).mul_(1 - factor).add_(now, factor));
  };
  add(running_mean, statistics.mean);
  add(running_var, variance);
}

void require_shape(const torch::Tensor& input, std::int64_t channels) {
  if (input.dim() >= 2 && input.size(1) == channels) return;
  throw UsageError(
      fmt::format("SyncBatchNorm of {} channels expects inputs of [N, {}, …], got [{}]", channels,
                  channels, fmt::join(input.sizes(), ", ")));
}

}  // namespace

SyncBatchNormImpl::SyncBatchNormImpl(const torch::nn::BatchNormOptions& options,
                                     std::optional<Group> group)
    : options(options), group_(std::move(group)) {
  reset();
}

SyncBatchNormImpl::SyncBatchNormImpl(const torch::nn::BatchNormOptions& options,
                                     std::optional<Group> group, const BatchNormState& state)
    : options(options), group_(std::move(group)) {
  use(state);
}

void SyncBatchNormImpl::reset() {
  BatchNormState fresh;
  const std::int64_t channels = options.num_features();
  if (options.affine()) {
    fresh.weight = torch::ones(channels, torch::requires_grad());
    fresh.bias = torch::zeros(channels, torch::requires_grad());
  }
  if (options.track_running_stats()) {
    fresh.running_mean = torch::zeros(channels);
    fresh.running_var = torch::ones(channels);
    fresh.num_batches_tracked = torch::zeros({}, torch::kInt64);
  }
  use(fresh);
}

void SyncBatchNormImpl::use(const BatchNormState& state) {
  const auto parameter = [this](const char* name, const torch::Tensor& tensor) {
    return register_parameter(name, tensor, tensor.defined() && tensor.requires_grad());
  };
  weight = parameter("weight", state.weight);
  bias = parameter("bias", state.bias);
  running_mean = register_buffer("running_mean", state.running_mean);
  running_var = register_buffer("running_var", state.running_var);
  num_batches_tracked = register_buffer("num_batches_tracked", state.num_batches_tracked);
}

void SyncBatchNormImpl::pretty_print(std::ostream& stream) const {
  stream << fmt::format(
      "lockstep::SyncBatchNorm({}, eps={}, affine={}, track_running_stats={}, {})",
      options.num_features(), options.eps(), options.affine(), options.track_running_stats(),
      group_ ? fmt::format("{} ranks", group_->size()) : "no group");
}

torch::Tensor SyncBatchNormImpl::forward(const torch::Tensor& input) {
  require_shape(input, options.num_features());
  const bool together = is_training() && group_ && group_->size() > 1;
  return together ? forward_together(input) : forward_alone(input);
}

double SyncBatchNormImpl::count_batch() {
  if (!is_training() || !options.track_running_stats()) return options.momentum().value_or(0);
  num_batches_tracked += 1;
  return options.momentum() ? *options.momentum() : 1 / num_batches_tracked.item<double>();
}

torch::Tensor SyncBatchNormImpl::forward_alone(const torch::Tensor& input) {
  const double factor = count_batch();
  return torch::nn::functional::batch_norm(
      input, running_mean, running_var,
      torch::nn::functional::BatchNormFuncOptions()
          .weight(weight)
          .bias(bias)
          .training(is_training() || !options.track_running_stats())
          .momentum(factor)
          .eps(options.eps()));
}

torch::Tensor SyncBatchNormImpl::forward_together(const torch::Tensor& input) {
  const torch::ScalarType type = input.scalar_type();
  const bool known = type == torch::kFloat32 || type == torch::kFloat64;
  if (!known || !input.device().is_cpu() || (weight.defined() && weight.scalar_type() != type))
    throw UsageError(
        fmt::format("SyncBatchNorm expects float32 or float64 in main memory, of the type of its "
                    "parameters, got {} on device {}",
                    torch::toString(type), input.device().str()));
  const torch::Tensor values = input.contiguous();
  const ddp::ChannelStatistics statistics =
      ddp::exchange(*group_, ddp::statistics_of(values.detach()));
  const double factor = count_batch();
  if (options.track_running_stats()) update_running(running_mean, running_var, statistics, factor);
  // Autograd does not accept undefined tensors.
  const torch::Tensor ones = torch::ones(options.num_features(), input.options());
  return NormaliseTogether::apply(
      values, weight.defined() ? weight : ones, bias.defined() ? bias : torch::zeros_like(ones),
      c10::make_intrusive<Kept>(ddp::normalisation_of(statistics, options.eps()), *group_));
}

}  // namespace lockstep
