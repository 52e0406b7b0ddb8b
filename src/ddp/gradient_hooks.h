// GradientHooks: makes the gradients of torch parameters live in flat memory, and tells when each
// is final.
#pragma once

#include "sync/arrivals.h"
#include "sync/gradients.h"

#include <torch/csrc/autograd/variable.h>
#include <torch/torch.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lockstep::ddp {

/// As long as it lives, parameter i's gradient is gradients.of(i), and every backward calls
/// ready(i) as soon as that gradient is final, on the thread that runs backward. A gradient that
/// torch replaced by a tensor of its own (after zero_grad(true), say) is copied into place first.
/// Gradients that are there at construction are kept.
///
/// A gradient of a kind that cannot be averaged is told to refuse(i, why) instead; without such a
/// function it is an Error.
///
/// REQUIRES: parameters and gradients are of one type and in the same order.
class GradientHooks {
 public:
  using Ready = std::function<void(std::size_t parameter)>;
  using Refuse = std::function<void(std::size_t parameter, sync::Arrival why)>;

  GradientHooks(std::vector<torch::Tensor> parameters, const sync::Gradients& gradients,
                Ready ready, Refuse refuse = {});
  ~GradientHooks();
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;

  /// Moves all gradients, values included, to another place. Tensors that the caller has of them
  /// stay what they were.
  void move_to(const sync::Gradients& gradients);

  /// Before averages are taken over parameters that this backward brought no gradient for: puts
  /// zeros in place where there is none at all, and remembers what was there.
  void settle(const std::vector<std::size_t>& without_gradient);

  /// Zeros in the place of a parameter's gradient. REQUIRES: there is one, or it was settled.
  void clear(std::size_t parameter) { places_[parameter].zero_(); }

  /// After that: gives those that no rank has a gradient for back what settle() remembered. The
  /// others have the average.
  void restore(const std::vector<std::size_t>& unused);

 private:
  /// The node at which autograd adds to a parameter's gradient, and our hook on it.
  /// What owns the node depends on libtorch's version.
  struct Hook {
    decltype(torch::autograd::impl::grad_accumulator({})) accumulator;
    std::uintptr_t key = 0;
  };

  void on_gradient(std::size_t parameter, const torch::Tensor& incoming);
  void refuse(std::size_t parameter, sync::Arrival why);
  /// Copies a gradient that lies elsewhere into place.
  void put_in_place(std::size_t parameter);
  bool is_in_place(std::size_t parameter) const;

  std::vector<torch::Tensor> parameters_;
  std::vector<torch::Tensor> places_;  ///< tensors over the flat memory, one a parameter
  std::vector<Hook> hooks_;
  std::map<std::size_t, torch::Tensor> settled_;  ///< by parameter; undefined where none was
  const Ready ready_;
  const Refuse refuse_;
  const std::vector<sync::Parameter> names_;
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

/// A tensor over memory that it does not own, but for a share of `owner`.
torch::Tensor tensor_over(const ArrayView& memory, torch::IntArrayRef shape,
                          const Memory& owner = {});

}  // namespace lockstep::ddp
