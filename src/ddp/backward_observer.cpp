#include "ddp/backward_observer.h"

#include <lockstep/error.h>

#include "base/thread_annotations.h"

#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

#include <algorithm>
#include <exception>
#include <string_view>
#include <typeinfo>
#include <vector>

namespace lockstep::internal::ddp {

struct ObserveBackward::Observers {
  std::vector<BackwardObserver*> all;  ///< in the order of their construction
  int depth = 0;
  /// Whether this is known to be a thread of the user. Torch moves deeply nested backwards to
  /// threads of its own.
  bool of_user = false;

  static const std::shared_ptr<Observers>& of_this_thread() {
    static thread_local const auto observers = std::make_shared<Observers>();
    return observers;
  }
};

namespace {

using torch::autograd::edge_list;
using torch::autograd::Engine;
using torch::autograd::Node;
using torch::autograd::variable_list;
using Observers = ObserveBackward::Observers;

/// The observers of all threads.
class Registry {
 public:
  static Registry& instance() {
    static Registry& registry = *new Registry;  // never destroyed, like the engine
    return registry;
  }

  void add(const BackwardObserver* observer) {
    Lock lock(mutex_);
    observers_.push_back(observer);
  }
  void remove(const BackwardObserver* observer) {
    Lock lock(mutex_);
    std::erase(observers_, observer);
  }
  bool empty() {
    Lock lock(mutex_);
    return observers_.empty();
  }
  bool any_concerned(const BackwardCall& call) {
    Lock lock(mutex_);
    return std::any_of(observers_.begin(), observers_.end(),
                       [&](const BackwardObserver* observer) { return observer->concerns(call); });
  }

 private:
  Mutex mutex_;
  std::vector<const BackwardObserver*> observers_ GUARDED_BY(mutex_);
};

/// Whether this thread is running a node of a backward.
bool runs_backward(Engine& engine) {
  try {
    engine.queue_callback([] {});  // throws outside of a backward; has no effect otherwise
    return true;
  } catch (const c10::Error&) {
    return false;
  }
}

class ObservedEngine : public Engine {
 public:
  explicit ObservedEngine(Engine& next) : next_(next) {}

  variable_list execute(const edge_list& roots, const variable_list& gradients, bool keep_graph,
                        bool create_graph, bool accumulate_grad, const edge_list& inputs) override {
    const auto run = [&] {
      return next_.execute(roots, gradients, keep_graph, create_graph, accumulate_grad, inputs);
    };
    Observers& observers = *Observers::of_this_thread();
    const BackwardCall call{roots, inputs, accumulate_grad};
    if (observers.all.empty()) {
      if (!Registry::instance().empty()) {
        // Torch's threads run nested backwards only.
        if (!observers.of_user) observers.of_user = !runs_backward(next_);
        if (observers.of_user) refuse_others_modules(call);
      }
      return run();
    }
    const Deeper deeper(observers);
    if (observers.depth > 1) {
      for (BackwardObserver* observer : observers.all) observer->before_nested_backward(call);
      return run();
    }
    variable_list results = tell_of_failure(observers, call, [&] {
      for (BackwardObserver* observer : observers.all) observer->before_backward();
      for (BackwardObserver* observer : observers.all) observer->admit(call);
      return run();
    });
    tell_of_end(observers);
    return results;
  }

  std::unique_ptr<torch::autograd::AnomalyMetadata> make_anomaly_metadata() override {
    return next_.make_anomaly_metadata();
  }
  std::unique_ptr<torch::autograd::SavedVariableHooks> get_default_saved_variable_hooks() override {
    return next_.get_default_saved_variable_hooks();
  }

 private:
  struct Deeper {
    explicit Deeper(Observers& observers) : observers(observers) { ++observers.depth; }
    ~Deeper() { --observers.depth; }
    Observers& observers;
  };

  static void refuse_others_modules(const BackwardCall& call) {
    if (Registry::instance().any_concerned(call))
      throw UsageError(
          "backward runs on another thread than the one that constructed the "
          "DistributedDataParallel "
          "of its module: construct it on the thread that trains");
  }

  template <typename Run>
  static variable_list tell_of_failure(Observers& observers, const BackwardCall& call,
                                       const Run& run) {
    try {
      return run();
    } catch (...) {
      for (BackwardObserver* observer : observers.all) observer->after_failure(call);
      for (BackwardObserver* observer : observers.all) observer->await_failure();
      throw;
    }
  }

  static void tell_of_end(Observers& observers) {
    std::exception_ptr error;
    for (BackwardObserver* observer : observers.all) {
      try {
        observer->after_backward();
      } catch (...) {
        if (!error) error = std::current_exception();
      }
    }
    if (error) std::rethrow_exception(error);
  }

  Engine& next_;
};

/// Never destroyed: threads may run backward while the process ends.
Engine& observed_engine() {
  static Engine& engine = *new ObservedEngine(Engine::get_default_engine());
  return engine;
}

void install_engine() {
  static const bool installed = [] {
    observed_engine();  // constructed first, because it stores the engine that was the default
    torch::autograd::set_default_engine_stub(observed_engine);
    return true;
  }();
  static_cast<void>(installed);
}

/// Whether `wanted` is true for a node of the graph.
template <typename Wanted>
bool any_node(const edge_list& roots, const Wanted& wanted) {
  std::unordered_set<const Node*> seen;
  std::vector<GraphNode> left;
  const auto visit = [&](const edge_list& edges) {
    for (const auto& edge : edges)
      if (edge.function && seen.insert(edge.function.get()).second) left.push_back(edge.function);
  };
  visit(roots);
  while (!left.empty()) {
    const GraphNode node = std::move(left.back());
    left.pop_back();
    if (wanted(node)) return true;
    visit(node->next_edges());
  }
  return false;
}

}  // namespace

bool BackwardCall::reaches(const std::unordered_set<const void*>& tensors) const {
  if (!accumulates) return false;
  const auto adds_to_one = [&](const GraphNode& node) {
    const auto* leaf = dynamic_cast<const torch::autograd::AccumulateGrad*>(node.get());
    return leaf && tensors.count(leaf->variable.unsafeGetTensorImpl()) > 0;
  };
  if (inputs.empty()) return any_node(roots, adds_to_one);
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const auto& edge) { return edge.function && adds_to_one(edge.function); });
}

void BackwardCall::each_node(const std::function<void(const GraphNode&)>& function) const {
  any_node(roots, [&](const GraphNode& node) {
    function(node);
    return false;
  });
}

namespace {

/// Newer versions of libtorch store hooks on tensors separately from those on nodes.
template <typename AnyNode>
bool has_hooks(AnyNode& node) {
  if (!node.pre_hooks().empty() || !node.post_hooks().empty()) return true;
  if constexpr (requires { node.tensor_pre_hooks(); }) return !node.tensor_pre_hooks().empty();
  return false;
}

/// Whether the node is torch's, and not a torch::autograd::CppNode<...>, which calls a user's
/// function.
bool is_of_torch(const Node& node) {
  const std::string_view name = typeid(node).name();
  return name.starts_with("N5torch8autograd") && !name.starts_with("N5torch8autograd7CppNode");
}

}  // namespace

bool BackwardCall::may_hide_a_backward() const {
  return any_node(roots, [](const GraphNode& node) {
    // Hooks after a gradient, such as ours, run no backward.
    if (dynamic_cast<const torch::autograd::AccumulateGrad*>(node.get())) return false;
    return !is_of_torch(*node) || has_hooks(*node);
  });
}

ObserveBackward::ObserveBackward(BackwardObserver& observer)
    : observers_(Observers::of_this_thread()), observer_(observer) {
  install_engine();
  observers_->all.push_back(&observer_);
  Registry::instance().add(&observer_);
}

ObserveBackward::~ObserveBackward() {
  Registry::instance().remove(&observer_);
  std::erase(observers_->all, &observer_);
}

int ObserveBackward::depth() const {
  return observers_->depth;
}

}  // namespace lockstep::internal::ddp
