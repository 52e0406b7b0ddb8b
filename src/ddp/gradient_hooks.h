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
/// torch made as a tensor of its own (the first one, or after zero_grad(true)) is copied into place
/// first. Gradients that are there at construction are kept; a parameter without one has none until
/// a backward brings it, because optimizers leave such parameters alone.
///
/// A gradient's elements lie as its parameter's do: both have the same strides.
///
/// A gradient of a kind that cannot be averaged is told to refuse(i, why) instead; without such a
/// function it is an Error. A backward that reaches parameter i but brings no gradient for it is
/// told to reached().
///
/// REQUIRES: parameters and gradients are of the same types and in the same order.
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

  /// Finds the parameters whose hooks were lost and hooks them again: torch::load and set_() give a
  /// tensor another place in the autograd graph. Returns whether there were any. To be called
  /// before backward; graphs that were made earlier keep their hooks.
  bool refresh();

  /// A node of the autograd graph. Parameters that were loaded twice may have one that refresh()
  /// did not see: if this is such a node, it gets a hook.
  void hook_again(const decltype(torch::autograd::Edge::function)& node);

  /// Names a parameter that has hooks of another living object like this one, in words; empty if
  /// there is none. Both would move its gradient.
  std::string shared_with_another() const;

  /// Whether it takes part in training at present.
  bool is_trained(std::size_t parameter) const { return parameters_[parameter].requires_grad(); }

  /// Whether it has a gradient, of this backward or an older one.
  bool has_gradient(std::size_t parameter) const { return parameters_[parameter].grad().defined(); }

  /// Moves all gradients, values included, to another place. Tensors that the caller has of them
  /// stay what they were.
  void move_to(const sync::Gradients& gradients);

  /// Before averages are taken over parameters that this backward brought no gradient for: puts
  /// zeros into the flat memory where there is none at all, and remembers what was there.
  void settle(const std::vector<std::size_t>& without_gradient);

  /// Zeros in the place of a parameter's gradient.
  void clear(std::size_t parameter) { places_[parameter].zero_(); }

  /// After that: those that no rank has a gradient for get back what settle() remembered, or stay
  /// without a gradient. The others have the average.
  void restore(const std::vector<std::size_t>& unused);

 private:
  /// The node at which autograd adds to a parameter's gradient, and our hook on it.
  /// What owns the node depends on libtorch's version.
  struct Hook {
    decltype(torch::autograd::impl::grad_accumulator({})) accumulator;
    std::uintptr_t key = 0;
  };

  using Accumulator = decltype(Hook::accumulator);
  Hook hook(std::size_t parameter, Accumulator accumulator);
  torch::Tensor place_of(std::size_t parameter, const sync::Gradients& gradients) const;
  void on_gradient(std::size_t parameter, const torch::Tensor& incoming);
  void refuse(std::size_t parameter, sync::Arrival why);
  /// Copies a gradient that lies elsewhere into place.
  void put_in_place(std::size_t parameter);
  bool is_in_place(std::size_t parameter) const;

  std::vector<torch::Tensor> parameters_;
  std::vector<torch::Tensor> places_;  ///< tensors over the flat memory, one a parameter
  std::vector<Hook> hooks_;
  std::vector<Hook> old_hooks_;                   ///< on nodes that only graphs made earlier use
  std::map<std::size_t, torch::Tensor> settled_;  ///< by parameter; undefined where none was
  const Ready ready_;
  const Refuse refuse_;
  const Reached reached_;
  const std::vector<sync::Parameter> names_;
};

/// The parameters that are trained, in the order that PyTorch gives them: frozen ones
/// (requires_grad is false) are left out, and one that several layers share comes once.
torch::OrderedDict<std::string, torch::Tensor> trained_parameters(const torch::nn::Module& module);

/// The same as sync methods want them. Throws UsageError that names a parameter whose type cannot
/// be averaged (a complex one, say), or that is not a dense tensor in main memory.
std::vector<sync::Parameter> describe(const torch::nn::Module& module);

/// A tensor over memory that it does not own, but for a share of `owner`. Rows follow one another
/// unless there are strides.
torch::Tensor tensor_over(const ArrayView& memory, torch::IntArrayRef shape,
                          const Memory& owner = {}, torch::IntArrayRef strides = {});

}  // namespace lockstep::ddp
