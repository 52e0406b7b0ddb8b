#include "engine/onednn/plan/builder.h"

#include "base/check.h"

#include <fmt/format.h>

namespace lockstep::internal::engine::onednn {

using dnnl::memory;

Builder::Builder(const dnnl::engine& engine, const PlanOptions& options, Layouts& layouts)
    : engine_(engine), options_(options), layouts_(layouts) {
  attributes_.set_scratchpad_mode(dnnl::scratchpad_mode::user);
}

Operand Builder::buffer(const memory::desc& layout) {
  return {Home::arena, draft_.arena.reserve(layout.get_size()), layout};
}

int Builder::add_value(const Operand& place, bool wants_gradient, bool overwritable) {
  values_.push_back({place, wants_gradient && options_.training, overwritable});
  return static_cast<int>(values_.size()) - 1;
}

int Builder::value_as(int value, const memory::desc& layout, const std::string& name) {
  if (this->value(value).layout == layout) return value;
  const int copy = add_value(buffer(layout), wants_gradient(value), true);
  reorder(name + " reorder of its input", this->value(value), this->value(copy));
  if (!wants_gradient(value)) return copy;
  on_backward([this, value, copy, name] {
    const Operand back = buffer(this->value(value).layout);
    reorder(name + " reorder of its input's gradient", gradient(copy), back);
    add_gradient(value, back);
  });
  return copy;
}

Operand Builder::weights(int parameter) {
  return {Home::weights, index(parameter), *layouts_[index(parameter)]};
}

Operand Builder::weights_as(const Layer& layer, const memory::desc& layout, std::string_view pass) {
  const Operand stored = weights(layer.weight);
  if (stored.layout == layout) return stored;
  const Operand copy = buffer(layout);
  reorder(fmt::format("{} reorder of its weights for {}", layer.name, pass), stored, copy);
  return copy;
}

Operand Builder::gradients(int parameter) {
  return {Home::gradients, index(parameter), *layouts_[index(parameter)]};
}

const memory::desc& Builder::layout(int parameter, const memory::desc& proposal) {
  std::optional<memory::desc>& layout = layouts_[index(parameter)];
  if (!layout) layout = proposal;
  return *layout;
}

std::optional<memory::desc> Builder::decided_layout(int parameter) const {
  return layouts_[index(parameter)];
}

void Builder::on_backward(std::function<void()> backward) {
  if (options_.training) backward_.push_back(std::move(backward));
}

void Builder::add_gradient(int value, const Operand& gradient) {
  LOCKSTEP_CHECK(gradient.layout == this->value(value).layout, "a gradient has another layout");
  values_[index(value)].gradients.push_back(gradient);
}

Operand Builder::gradient(int value) {
  std::vector<Operand>& parts = values_[index(value)].gradients;
  LOCKSTEP_CHECK(!parts.empty(), "no layer uses value {}", value);
  while (parts.size() > 1) {
    const Operand one = parts.back();
    parts.pop_back();
    const Operand sum = buffer(one.layout);
    const dnnl::binary::primitive_desc description(
        {dnnl::algorithm::binary_add, one.layout, one.layout, one.layout}, attributes_, engine_);
    step("sum of gradients", description, dnnl::binary(description),
         {{DNNL_ARG_SRC_0, one}, {DNNL_ARG_SRC_1, parts.back()}, {DNNL_ARG_DST, sum}});
    parts.back() = sum;
  }
  return parts.front();
}

void Builder::step(const std::string& name, const std::vector<Operand>& operands, Kernel kernel,
                   const std::vector<int>& ready) {
  Step step{name, "ours", {}, {}, std::move(kernel), {}};
  for (const Operand& operand : operands) step.operands.emplace_back(0, operand);
  add(std::move(step), ready);
}

void Builder::reorder(const std::string& name, const Operand& from, const Operand& to,
                      std::vector<int> ready) {
  const dnnl::reorder::primitive_desc description(engine_, from.layout, engine_, to.layout,
                                                  attributes_);
  step(name, description, dnnl::reorder(description), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}},
       std::move(ready));
}

void Builder::add(Step step, const std::vector<int>& ready) {
  for (const auto& [argument, operand] : step.operands)
    if (operand.home == Home::arena) draft_.arena.use(operand.number, draft_.steps.size());
  for (int parameter : ready)
    if (parameter != kNone) step.ready.push_back(index(parameter));
  draft_.steps.push_back(std::move(step));
}

Draft Builder::finish() {
  draft_.first_of_backward = draft_.steps.size();
  for (std::size_t left = backward_.size(); left > 0; --left) backward_[left - 1]();
  draft_.arena.place();
  return std::move(draft_);
}

memory::desc plain(const memory::dims& shape) {
  memory::dims strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i > 1; --i) strides[i - 2] = strides[i - 1] * shape[i - 1];
  return {shape, memory::data_type::f32, strides};
}

}  // namespace lockstep::internal::engine::onednn
