// BackwardObserver: is called before and after every backward on its thread. Hooks on gradients
// cannot do that: they are not called by a backward that fails before its first gradient, and they
// stay on the old tensors when a module's tensors are replaced.
//
// libtorch's autograd engine can be replaced by a subclass, as Python does. Ours forwards every
// call to the previous engine, and calls the observers of the calling thread before and after. It
// costs one virtual call per backward.
#pragma once

#include <torch/csrc/autograd/engine.h>

#include <functional>
#include <memory>
#include <unordered_set>

namespace lockstep::internal::ddp {

/// A node of the autograd graph. Its owner depends on libtorch's version.
using GraphNode = decltype(torch::autograd::Edge::function);

/// A call of the autograd engine.
struct BackwardCall {
  const torch::autograd::edge_list& roots;
  const torch::autograd::edge_list& inputs;  ///< compute gradients for these only; for all if empty
  bool accumulates;                          ///< false for torch::autograd::grad

  /// Whether it adds to the gradient of one of these tensors (TensorImpl), judged by its own graph:
  /// a function that runs a backward inside its backward hides the inner graph.
  bool reaches(const std::unordered_set<const void*>& tensors) const;

  /// Calls the function with every node of its graph.
  void each_node(const std::function<void(const GraphNode&)>& function) const;

  /// Whether its graph has functions or hooks of the user, which may run a backward inside
  /// backward.
  bool may_hide_a_backward() const;
};

/// Callbacks run on the thread that runs backward. A backward inside a backward is nested; all
/// functions but before_nested_backward() are called for the outermost only.
class BackwardObserver {
 public:
  virtual ~BackwardObserver() = default;

  /// An exception ends the backward before it begins.
  virtual void before_backward() = 0;
  /// Called after before_backward() of all observers. May throw to refuse the backward.
  virtual void admit(const BackwardCall& call) = 0;
  virtual void before_nested_backward(const BackwardCall& call) = 0;
  /// The backward succeeded. An exception becomes that of backward; the other observers are called
  /// nevertheless.
  virtual void after_backward() = 0;
  /// The backward, or a call before it, threw. Must not wait for other ranks.
  virtual void after_failure(const BackwardCall& call) noexcept = 0;
  /// Called after after_failure() of all observers. May wait for other ranks.
  virtual void await_failure() noexcept = 0;

  /// Called on a thread without observers: whether the backward affects this observer. If so, it is
  /// refused.
  virtual bool concerns(const BackwardCall& call) const = 0;
};

/// During its lifetime, the observer is called for backwards on the thread that constructed this
/// object. On threads without observers, backwards that affect it throw UsageError. REQUIRES:
/// destroyed by that thread, outside of backward.
class ObserveBackward {
 public:
  explicit ObserveBackward(BackwardObserver& observer);
  ~ObserveBackward();
  ObserveBackward(const ObserveBackward&) = delete;
  ObserveBackward& operator=(const ObserveBackward&) = delete;

  /// The number of running backwards: 2 or more for nested ones.
  int depth() const;

  /// The observers of one thread.
  struct Observers;

 private:
  const std::shared_ptr<Observers> observers_;
  BackwardObserver& observer_;
};

}  // namespace lockstep::internal::ddp
