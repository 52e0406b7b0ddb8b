// Builder: makes a plan's steps. Layers are added in their order; each adds its steps forward and
// says how its steps backward are to be added once all layers are there, last layer first.
//
// A value is what a layer puts out (or the images). Its gradient is the sum of what the layers that
// take it add to it; it lies as the value does.
#pragma once

#include "engine/onednn/convolution_rule.h"
#include "engine/onednn/network.h"
#include "engine/onednn/plan.h"

#include <optional>

namespace lockstep::engine::onednn {

/// How each parameter lies in memory, by its number. Decided by the first plan that uses it; plans
/// that come later keep to it.
using Layouts = std::vector<std::optional<dnnl::memory::desc>>;

struct PlanOptions {
  std::int64_t batch = 1;
  bool training = true;  ///< with a backward pass; batch norm by the batch's own statistics
  ChooseMethods methods = convolution_rule;
  double label_smoothing = 0;
};

class Builder {
 public:
  /// The layouts belong to the caller.
  Builder(const dnnl::engine& engine, const PlanOptions& options, Layouts& layouts);

  const dnnl::engine& engine() const { return engine_; }
  const PlanOptions& options() const { return options_; }
  /// All primitives are made with these: their scratch memory is a buffer of the plan.
  const dnnl::primitive_attr& attributes() const { return attributes_; }

  /// A new buffer.
  Operand buffer(const dnnl::memory::desc& layout);

  /// A new value that lies there. With `overwritable` whoever takes it alone may write its own
  /// result in its place: backward does not need it.
  int add_value(const Operand& place, bool wants_gradient, bool overwritable = false);
  const Operand& value(int number) const { return values_[index(number)].place; }
  bool wants_gradient(int value) const { return values_[index(value)].wants_gradient; }
  bool overwritable(int value) const { return values_[index(value)].overwritable; }
  /// Several layers take the value.
  void keep(int value) { values_[index(value)].overwritable = false; }
  /// The value in another layout: itself, or a reordered copy.
  int value_as(int value, const dnnl::memory::desc& layout, const std::string& name);

  Operand weights(int parameter);
  /// The layer's weights in this layout: where they are stored, or a copy that is reordered before
  /// the pass.
  Operand weights_as(const Layer& layer, const dnnl::memory::desc& layout, std::string_view pass);
  Operand gradients(int parameter);
  /// How the parameter lies; `proposal` if that is not decided yet, and then it is now.
  const dnnl::memory::desc& layout(int parameter, const dnnl::memory::desc& proposal);
  std::optional<dnnl::memory::desc> decided_layout(int parameter) const;

  /// `backward` adds a layer's steps backward. Ignored in a plan that only evaluates.
  void on_backward(std::function<void()> backward);
  /// Only while the steps backward are added.
  Operand gradient(int value);
  void add_gradient(int value, const Operand& gradient);

  /// Adds a step that runs a primitive; its scratch memory is seen to.
  template <typename Description>
  void step(const std::string& name, const Description& description,
            const dnnl::primitive& primitive, std::vector<std::pair<int, Operand>> operands,
            std::vector<int> ready = {}) {
    const dnnl::memory::desc scratch = description.scratchpad_desc();
    if (scratch.get_size() > 0) operands.emplace_back(DNNL_ARG_SCRATCHPAD, buffer(scratch));
    add({name, description.impl_info_str(), primitive, std::move(operands), {}, {}}, ready);
  }
  /// Adds a step that runs a kernel of our own.
  void step(const std::string& name, const std::vector<Operand>& operands, Kernel kernel,
            const std::vector<int>& ready = {});
  void reorder(const std::string& name, const Operand& from, const Operand& to,
               std::vector<int> ready = {});

  /// After the last layer: adds the steps backward, and places the buffers.
  Draft finish();

 private:
  struct Value {
    Operand place;
    bool wants_gradient = false;
    bool overwritable = false;
    std::vector<Operand> gradients = {};  ///< what was added so far
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

/// oneDNN's plain code, which takes any layout but is far slower than all else.
inline bool is_slow(const char* implementation) {
  return std::string_view(implementation).starts_with("ref");
}

/// The layout without blocks or padding, as torch has it.
dnnl::memory::desc plain(const dnnl::memory::dims& shape);

}  // namespace lockstep::engine::onednn
