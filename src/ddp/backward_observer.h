// BackwardObserver: learns of every backward that its thread runs. Hooks on gradients cannot do
// that: they never hear of a backward that fails before its first gradient, and they stay behind on
// the old tensors when a module's tensors are replaced.
//
// libtorch's autograd engine can be replaced by a subclass (Python does so). Ours hands every call
// on to the engine that was there, and tells the observers of the calling thread before and after.
// It costs one virtual call a backward.
#pragma once

#include <torch/csrc/autograd/engine.h>

#include <functional>
#include <memory>
#include <unordered_set>

namespace lockstep::ddp {

/// A node of the autograd graph. What owns it depends on libtorch's version.
using GraphNode = decltype(torch::autograd::Edge::function);

/// What the autograd engine was asked for.
struct BackwardCall {
  const torch::autograd::edge_list& roots;
  const torch::autograd::edge_list& inputs;  ///< only these are wanted; all if there are none
  bool accumulates;                          ///< false for torch::autograd::grad

  /// Whether it adds to the gradient of one of these tensors (TensorImpl), as far as its own graph
  /// tells: a function that runs a backward within its backward hides the inner graph.
  bool reaches(const std::unordered_set<const void*>& tensors) const;

  /// Calls the function with every node of its graph.
  void each_node(const std::function<void(const GraphNode&)>& function) const;

  /// Whether its graph has functions or hooks of the user's own, which may run a backward within
  /// backward.
  bool may_hide_a_backward() const;
};

/// Callbacks run on the thread that runs backward. A backward within a backward is nested; the
/// others are told of the outermost only.
class BackwardObserver {
 public:
  virtual ~BackwardObserver() = default;

  /// What it throws ends the backward before it begins.
  virtual void before_backward() = 0;
  /// After before_backward() of all observers: may throw to refuse the backward.
  virtual void admit(const BackwardCall& call) = 0;
  virtual void before_nested_backward(const BackwardCall& call) = 0;
  /// The backward went well. What it throws is what backward throws; other observers are told
  /// nevertheless.
  virtual void after_backward() = 0;
  /// The backward, or what came before it, threw. Must not wait for other ranks.
  virtual void after_failure(const BackwardCall& call) noexcept = 0;
  /// After after_failure() of all observers: may wait for other ranks.
  virtual void await_failure() noexcept = 0;

  /// On a thread that has no observers: whether the backward is this observer's concern. Then it
  /// is refused.
  virtual bool concerns(const BackwardCall& call) const = 0;
};

/// While it lives, the observer is told of backwards on the thread that constructed this. On
/// threads without observers, backwards that concern it throw UsageError. REQUIRES: destroyed by
/// that thread, outside of backward.
class ObserveBackward {
 public:
  explicit ObserveBackward(BackwardObserver& observer);
  ~ObserveBackward();
  ObserveBackward(const ObserveBackward&) = delete;
  ObserveBackward& operator=(const ObserveBackward&) = delete;

  /// How many backwards are under way: 2 and more for nested ones.
  int depth() const;

  /// Of one thread.
  struct Observers;

 private:
  const std::shared_ptr<Observers> observers_;
  BackwardObserver& observer_;
};

}  // namespace lockstep::ddp
