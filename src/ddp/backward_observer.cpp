#include "ddp/backward_observer.h"

#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

#include <algorithm>
#include <exception>
#include <string_view>
#include <typeinfo>
#include <vector>

namespace lockstep::ddp {

struct ObserveBackward::Observers {
  std::vector<BackwardObserver*> all;  ///< in the order of their construction
  int depth = 0;

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

class ObservedEngine : public Engine {
 public:
  explicit ObservedEngine(Engine& next) : next_(next) {}

  variable_list execute(const edge_list& roots, const variable_list& gradients, bool keep_graph,
                        bool create_graph, bool accumulate_grad, const edge_list& inputs) override {
    const auto run = [&] {
      return next_.execute(roots, gradients, keep_graph, create_graph, accumulate_grad, inputs);
    };
    Observers& observers = *Observers::of_this_thread();
    if (observers.all.empty()) return run();
    const Deeper deeper(observers);
    const BackwardCall call{roots, inputs, accumulate_grad};
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

  template <typename Run>
  static variable_list tell_of_failure(Observers& observers, const BackwardCall& call,
                                       const Run& run) {
    try {
      return run();
    } catch (...) {
      for (BackwardObserver* observer : observers.all) observer->after_failure(call);
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
    observed_engine();  // made before it is the default, for it asks which engine was there
    torch::autograd::set_default_engine_stub(observed_engine);
    return true;
  }();
  static_cast<void>(installed);
}

/// Whether `wanted` holds for a node of the graph.
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

bool BackwardCall::has_custom_functions() const {
  return any_node(roots, [](const GraphNode& node) {
    // torch::autograd::CppNode<...>, whatever the user's type is.
    const Node& function = *node;
    return std::string_view(typeid(function).name()).starts_with("N5torch8autograd7CppNode");
  });
}

ObserveBackward::ObserveBackward(BackwardObserver& observer)
    : observers_(Observers::of_this_thread()), observer_(observer) {
  install_engine();
  observers_->all.push_back(&observer_);
}

ObserveBackward::~ObserveBackward() {
  std::erase(observers_->all, &observer_);
}

int ObserveBackward::depth() const {
  return observers_->depth;
}

}  // namespace lockstep::ddp
