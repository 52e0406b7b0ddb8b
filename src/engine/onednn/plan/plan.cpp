#include "engine/onednn/plan/plan.h"

#include "base/check.h"

namespace lockstep::internal::engine::onednn {

namespace {

void check(dnnl_status_t status, const std::string& step) {
  LOCKSTEP_CHECK(status == dnnl_success, "oneDNN's step {} ended with status {}", step,
                 static_cast<int>(status));
}

}  // namespace

Plan::Plan(const dnnl::engine& engine, Draft draft)
    : draft_(std::move(draft)), stream_(engine), bound_(draft_.steps.size()) {
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    const Step& step = draft_.steps[i];
    for (std::size_t j = 0; j < step.operands.size(); ++j) {
      const auto& [argument, operand] = step.operands[j];
      bound_[i].memories.emplace_back(operand.layout, engine, nullptr);
      bound_[i].arguments.push_back({argument, bound_[i].memories.back().get()});
      if (operand.home == Home::images) images_.emplace_back(i, j);
    }
    bound_[i].pointers.resize(step.operands.size());
  }
}

void Plan::set(std::size_t step, std::size_t operand, void* place) {
  bound_[step].pointers[operand] = static_cast<float*>(place);
  check(dnnl_memory_set_data_handle(bound_[step].memories[operand].get(), place),
        draft_.steps[step].name);
}

void Plan::use_arena(std::byte* arena) {
  for (std::size_t i = 0; i < bound_.size(); ++i)
    for (std::size_t j = 0; j < bound_[i].memories.size(); ++j) {
      const Operand& operand = draft_.steps[i].operands[j].second;
      if (operand.home == Home::arena) set(i, j, arena + draft_.arena.offset(operand.number));
    }
}

void Plan::use(Home home, std::span<float* const> places) {
  for (std::size_t i = 0; i < bound_.size(); ++i)
    for (std::size_t j = 0; j < bound_[i].memories.size(); ++j) {
      const Operand& operand = draft_.steps[i].operands[j].second;
      if (operand.home == home) set(i, j, places[operand.number]);
    }
}

Score Plan::forward(const data::Batch& batch, observe::Trace* trace) {
  for (const auto& [step, operand] : images_)
    set(step, operand, const_cast<float*>(batch.pixels.data()));  // not written
  pass_.labels = batch.labels;
  pass_.score = {};
  for (std::size_t i = 0; i < draft_.first_of_backward; ++i) run(i, trace);
  return pass_.score;
}

void Plan::backward(double factor, const Engine::Ready& ready, observe::Trace* trace) {
  pass_.factor = factor;
  for (std::size_t i = draft_.first_of_backward; i < draft_.steps.size(); ++i) {
    run(i, trace);
    for (std::size_t parameter : draft_.steps[i].ready) ready(parameter);
  }
}

void Plan::run(std::size_t number, observe::Trace* trace) {
  const Step& step = draft_.steps[number];
  const Bound& bound = bound_[number];
  const double begin = trace ? clock_() : 0;
  if (step.kernel)
    step.kernel(bound.pointers, pass_);
  else
    check(dnnl_primitive_execute(step.primitive.get(), stream_.get(),
                                 static_cast<int>(bound.arguments.size()), bound.arguments.data()),
          step.name);
  if (trace)
    trace->add({.kind = observe::EventKind::operation,
                .name = step.name,
                .begin = begin,
                .end = clock_()});
}

}  // namespace lockstep::internal::engine::onednn
