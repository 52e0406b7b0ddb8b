// GradientHooks: places the gradients of torch parameters in flat memory, and reports when each is
// final.
#pragma once

#include "sync/arrivals.h"
#include "sync/gradients.h"

#include <torch/csrc/autograd/variable.h>
#include <torch/torch.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lockstep::internal::ddp {

/// During its lifetime, parameter i's gradient is gradients.of(i), and every backward calls
/// ready(i) as soon as that gradient is final, on the thread that runs backward. A gradient that
/// torch allocated itself (the first one, or after zero_grad(true)) is copied into place first.
/// Gradients that exist at construction are kept. A parameter without one has none until a backward
/// computes it, because optimizers skip such parameters.
///
/// A gradient has the strides of its parameter.
///
/// Calls refuse(i, why) instead for a gradient that cannot be averaged; without that function it
/// throws Error. Calls reached() if a backward reaches a parameter but computes no gradient for it.
///
/// REQUIRES: parameters and gradients have the same types and the same order.
class GradientHooks {
 public:
  using Ready = std::function<void(std::size_t parameter)>;
  using Refuse = std::function<void(std::size_t parameter, sync::Arrival why)>;
  using Reached = std::function<void()>;

  GradientHooks(std::vector<torch::Tensor> parameters, const sync::Gradients& gradients,
                Ready ready, Refuse refuse = {}, Reached reached = {});
  ~GradientHooks();
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;

  /// Hooks parameters again whose hooks were lost: torch::load and set_() give a tensor another
  /// node in the autograd graph. Returns whether there were any. Call it before backward; older
  /// graphs keep their hooks.
  bool refresh();

  /// Hooks a node of the autograd graph if it belongs to a parameter but was not seen by refresh(),
  /// as for parameters that were loaded twice.
  void hook_again(const decltype(torch::autograd::Edge::function)& node);

  /// Names a parameter that has hooks of another living GradientHooks, as a sentence; empty if
  /// there is none. Both would move its gradient.
  std::string shared_with_another() const;

  /// Whether requires_grad is on.
  bool is_trained(std::size_t parameter) const { return parameters_[parameter].requires_grad(); }

  /// Whether it has a gradient, from this backward or an older one.
  bool has_gradient(std::size_t parameter) const { return parameters_[parameter].grad().defined(); }

  /// Moves all gradients with their values to another place. Tensors of the caller that refer to
  /// the old gradients keep their values.
  void move_to(const sync::Gradients& gradients);

  /// Call before averaging: stores the older gradients of parameters without one from this
  /// backward, and writes zeros to the flat memory of those without any.
  void fill_missing(const std::vector<std::size_t>& without_gradient);

  /// Writes zeros to a parameter's gradient.
  void clear(std::size_t parameter) { places_[parameter].zero_(); }

  /// Call after averaging: the parameters without a gradient on any rank get back the stored
  /// gradient, or stay without one. The others keep the average.
  void restore(const std::vector<std::size_t>& unused);

 private:
  /// The node at which autograd adds to a parameter's gradient, and our hook on it. The node's
  /// owner depends on libtorch's version.
  struct Hook {
    decltype(torch::autograd::impl::grad_accumulator({})) accumulator;
    std::uintptr_t key = 0;
  };

  using Accumulator = decltype(Hook::accumulator);
  Hook hook(std::size_t parameter, Accumulator accumulator);
  torch::Tensor place_of(std::size_t parameter, const sync::Gradients& gradients) const;
  void on_gradient(std::size_t parameter, const torch::Tensor& incoming);
  void refuse(std::size_t parameter, sync::Arrival why);
  /// Copies a gradient that is elsewhere into place.
  void put_in_place(std::size_t parameter);
  bool is_in_place(std::size_t parameter) const;

  std::vector<torch::Tensor> parameters_;
  std::vector<torch::Tensor> places_;  ///< tensors over the flat memory, by parameter
  std::vector<Hook> hooks_;
  std::vector<Hook> old_hooks_;  ///< on nodes that only older graphs use
  std::map<std::size_t, torch::Tensor>
      stored_;  ///< stored gradients by parameter; may be undefined
  const Ready ready_;
  const Refuse refuse_;
  const Reached reached_;
  const std::vector<sync::Parameter> names_;
};

/// The parameters with requires_grad, in PyTorch's order; a parameter of several layers comes once.
torch::OrderedDict<std::string, torch::Tensor> trained_parameters(const torch::nn::Module& module);

/// The same for sync methods. Throws UsageError that names a parameter whose type cannot be
/// averaged (for example a complex one), or that is not a dense tensor in main memory.
std::vector<sync::Parameter> describe(const torch::nn::Module& module);

/// A tensor over memory that it does not own; it keeps `owner` alive. Contiguous unless there are
/// strides.
torch::Tensor tensor_over(const ArrayView& memory, torch::IntArrayRef shape,
                          const Memory& owner = {}, torch::IntArrayRef strides = {});

}  // namespace lockstep::internal::ddp
