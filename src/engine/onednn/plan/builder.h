// Builder: makes the steps of a plan. Layers are added in order. Each adds its forward steps, and
// registers a function that adds its backward steps once all layers are added, last layer first.
//
// A value is the output of a layer, or the images. Its gradient is the sum of the gradients from
// all layers that use the value, and has the value's layout.
#pragma once

#include "engine/onednn/plan/convolution_rule.h"
#include "engine/onednn/plan/layer_graph.h"
#include "engine/onednn/plan/plan.h"

#include <optional>

namespace lockstep::internal::engine::onednn {

/// The memory layout of each parameter, by number. The first plan that uses a parameter decides it;
/// later plans keep it.
using Layouts = std::vector<std::optional<dnnl::memory::desc>>;

struct PlanOptions {
  std::int64_t batch = 1;
  bool training = true;  ///< with a backward pass; batch norm uses the batch's statistics
  ChooseMethods methods = convolution_rule;
  double label_smoothing = 0;
};

class Builder {
 public:
  /// The layouts belong to the caller and must outlive the builder.
  Builder(const dnnl::engine& engine, const PlanOptions& options, Layouts& layouts);

  const dnnl::engine& engine() const { return engine_; }
  const PlanOptions& options() const { return options_; }
  /// Attributes for all primitives: their scratch memory is a buffer of the plan.
  const dnnl::primitive_attr& attributes() const { return attributes_; }

  /// Adds a buffer to the arena.
  Operand buffer(const dnnl::memory::desc& layout);

  /// Adds a value at this place. With `overwritable`, its only user may write its own result to the
  /// same place, because backward does not need the value.
  int add_value(const Operand& place, bool wants_gradient, bool overwritable = false);
  const Operand& value(int number) const { return values_[index(number)].place; }
  bool wants_gradient(int value) const { return values_[index(value)].wants_gradient; }
  bool overwritable(int value) const { return values_[index(value)].overwritable; }
  /// Makes a value not overwritable, because several layers use it.
  void keep(int value) { values_[index(value)].overwritable = false; }
  /// The value in another layout: itself, or a reordered copy.
  int value_as(int value, const dnnl::memory::desc& layout, const std::string& name);

  Operand weights(int parameter);
  /// The layer's weights in this layout: the stored ones, or a copy that is reordered before the
  /// pass.
  Operand weights_as(const Layer& layer, const dnnl::memory::desc& layout, std::string_view pass);
  Operand gradients(int parameter);
  /// The parameter's layout. If it is not decided yet, `proposal` becomes its layout.
  const dnnl::memory::desc& layout(int parameter, const dnnl::memory::desc& proposal);
  std::optional<dnnl::memory::desc> decided_layout(int parameter) const;

  /// Registers a function that adds a layer's backward steps. Ignored in a plan for evaluation.
  void on_backward(std::function<void()> backward);
  /// REQUIRES, for both: called while the backward steps are added.
  Operand gradient(int value);
  void add_gradient(int value, const Operand& gradient);

  /// Adds a step that runs a primitive, with its scratch memory.
  template <typename Description>
  void step(const std::string& name, const Description& description,
            const dnnl::primitive& primitive, std::vector<std::pair<int, Operand>> operands,
            std::vector<int> ready = {}) {
    const dnnl::memory::desc scratch = description.scratchpad_desc();
    if (scratch.get_size() > 0) operands.emplace_back(DNNL_ARG_SCRATCHPAD, buffer(scratch));
    add({name, description.impl_info_str(), primitive, std::move(operands), {}, {}}, ready);
  }
  /// Adds a step that runs one of our kernels.
  void step(const std::string& name, const std::vector<Operand>& operands, Kernel kernel,
            const std::vector<int>& ready = {});
  void reorder(const std::string& name, const Operand& from, const Operand& to,
               std::vector<int> ready = {});

  /// Call after the last layer: adds the backward steps, and places the buffers.
  Draft finish();

 private:
  struct Value {
    Operand place;
    bool wants_gradient = false;
    bool overwritable = false;
    std::vector<Operand> gradients = {};  ///< gradients added so far
  };

  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  void add(Step step, const std::vector<int>& ready);

  dnnl::engine engine_;
  PlanOptions options_;
  Layouts& layouts_;
  dnnl::primitive_attr attributes_;
  std::vector<Value> values_;
  std::vector<std::function<void()>> backward_;
  Draft draft_;
};

/// Whether it is oneDNN's reference code, which supports any layout but is far slower.
inline bool is_slow(const char* implementation) {
  return std::string_view(implementation).starts_with("ref");
}

/// The layout without blocks or padding, as in torch.
dnnl::memory::desc plain(const dnnl::memory::dims& shape);

}  // namespace lockstep::internal::engine::onednn
