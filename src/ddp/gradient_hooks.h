// GradientHooks: makes the gradients of torch parameters live in flat memory, and tells when each
// is final.
#pragma once

#include "sync/gradients.h"

#include <torch/torch.h>

#include <functional>
#include <string>
#include <vector>

namespace lockstep::ddp {

/// As long as it lives, parameter i's gradient is gradients.of(i), and every backward calls
/// ready(i) as soon as that gradient is final, on the thread that runs backward. A gradient that
/// torch replaced by a tensor of its own (after zero_grad(true), say) is copied into place first.
///
/// REQUIRES: parameters and gradients are of one type and in the same order; `gradients` outlives
/// it.
class GradientHooks {
 public:
  using Ready = std::function<void(std::size_t parameter)>;

  GradientHooks(std::vector<torch::Tensor> parameters, const sync::Gradients& gradients,
                Ready ready);
  ~GradientHooks();
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;

 private:
  /// The node at which autograd adds to a parameter's gradient, and our hook on it.
  struct Hook {
    std::shared_ptr<torch::autograd::Node> accumulator;
    std::uintptr_t key = 0;
  };

  void on_gradient(std::size_t parameter);

  std::vector<torch::Tensor> parameters_;
  std::vector<torch::Tensor> places_;  ///< tensors over the flat memory, one a parameter
  std::vector<Hook> hooks_;
  const Ready ready_;
};

/// The parameters that are trained, in the order that PyTorch gives them: frozen ones
/// (requires_grad is false) are left out, and one that several layers share comes once.
torch::OrderedDict<std::string, torch::Tensor> trained_parameters(const torch::nn::Module& module);

/// The same as sync methods want them.
std::vector<sync::Parameter> describe(const torch::nn::Module& module);

/// The element type of a module's trained parameters. Throws UsageError if they differ, or are
/// neither float32 nor float64, or not dense tensors in main memory; the message names the
/// parameter.
DataType type_of(const torch::nn::Module& module);

/// A tensor over memory that it does not own.
torch::Tensor tensor_over(const ArrayView& memory, torch::IntArrayRef shape);

}  // namespace lockstep::ddp
