#include "engine/onednn/onednn_engine.h"

#include <lockstep/error.h>

#include "base/check.h"
#include "ddp/batch_norm_converter.h"
#include "engine/onednn/choose_methods.h"
#include "engine/onednn/describe.h"
#include "engine/onednn/layers/plan_empty_batch.h"
#include "engine/onednn/layers/plan_graph.h"
#include "engine/onednn/plan/parameter_store.h"
#include "engine/onednn/sequential_engine.h"
#include "engine/seeded_model.h"
#include "models/model.h"

#include <cstring>
#include <map>

namespace lockstep::internal::engine {

namespace onednn {
namespace {

class OnednnEngine : public Engine {
 public:
  OnednnEngine(std::shared_ptr<torch::nn::Module> model, const LayerGraph& graph,
               const OnednnEngineOptions& options)
      : model_(std::move(model)),
        graph_(fuse_relu(graph)),
        together_(normalises_together(graph_)),
        methods_(choose_methods(options, dnnl_, graph_)),
        smoothing_(options.label_smoothing),
        layouts_(graph_.parameters.size()) {
    make_plan({static_cast<std::int64_t>(options.batch), true});
    store_.emplace(dnnl_, graph_, layouts_);
    take_weights_of_model();
    for (auto& [key, plan] : plans_) plan->use_weights(store_->places());
  }

  std::string_view name() const override { return "onednn"; }
  std::vector<sync::Parameter> parameters() const override { return store_->parameters(); }
  DataType type() const override { return DataType::float32; }

  void bind(ArrayView weights, const sync::Gradients& gradients, Ready ready) override {
    const std::vector<sync::Slot>& slots = gradients.layout().slots();
    store_->move_to(weights, slots);
    flat_gradients_ = gradients.all();
    for (const sync::Slot& slot : slots)
      gradients_.push_back(static_cast<float*>(flat_gradients_.data) + slot.begin);
    for (auto& [key, plan] : plans_) {
      plan->use_weights(store_->places());
      plan->use_gradients(gradients_);
    }
    ready_ = std::move(ready);
  }

  Score forward(const data::Batch& batch) override {
    forwarded_ = Forwarded::nothing;
    // Batch norm over all ranks needs this rank too.
    if (batch.size() == 0 && !together_) return {};
    trained_ = &plan_for(batch.size(), true);
    forwarded_ = batch.size() == 0 ? Forwarded::no_images : Forwarded::batch;
    return trained_->forward(batch, trace_);
  }

  void backward(double factor) override {
    LOCKSTEP_CHECK(forwarded_ != Forwarded::evaluated, "backward after an evaluation");
    if (forwarded_ != Forwarded::batch)
      std::memset(flat_gradients_.data, 0, flat_gradients_.bytes());
    if (forwarded_ != Forwarded::nothing) {
      trained_->backward(factor, ready_, trace_);
    } else {
      for (std::size_t left = parameters().size(); left > 0; --left) ready_(left - 1);
    }
    forwarded_ = Forwarded::nothing;
  }

  Score evaluate(const data::Batch& batch) override {
    if (batch.size() == 0) return {};
    forwarded_ = Forwarded::evaluated;
    return plan_for(batch.size(), false).forward(batch, trace_);
  }

  void record_in(observe::Trace* trace) override { trace_ = trace; }

  std::vector<ArrayView> running_statistics() override { return models::buffer_views(*model_); }

  std::vector<models::StoredTensor> parameter_state() const override {
    const std::vector<torch::Tensor> tensors = model_->parameters();
    for (std::size_t i = 0; i < tensors.size(); ++i)
      store_->to_plain(i, store_->places()[i], tensors[i].data_ptr<float>());
    return models::parameters_of(*model_);
  }
  std::vector<models::StoredTensor> buffer_state() const override {
    return models::buffers_of(*model_);
  }
  void load(const std::vector<models::StoredTensor>& state, const std::string& source) override {
    models::load_state(*model_, state, source);
    take_weights_of_model();
  }

  std::vector<std::byte> to_plain(std::size_t parameter, const ArrayView& values) const override {
    std::vector<std::byte> plain(store_->plain_count(parameter) * sizeof(float));
    store_->to_plain(parameter, static_cast<const float*>(values.data),
                     reinterpret_cast<float*>(plain.data()));
    return plain;
  }
  bool from_plain(std::size_t parameter, std::span<const std::byte> plain,
                  const ArrayView& values) const override {
    if (plain.size() != store_->plain_count(parameter) * sizeof(float)) return false;
    store_->from_plain(parameter, reinterpret_cast<const float*>(plain.data()),
                       static_cast<float*>(values.data));
    return true;
  }

 private:
  /// The contents of the arena.
  enum class Forwarded { nothing, no_images, batch, evaluated };

  struct Key {
    std::int64_t batch;
    bool training;
    auto operator<=>(const Key&) const = default;
  };

  Plan& plan_for(std::size_t batch, bool training) {
    const Key key{static_cast<std::int64_t>(batch), training};
    const auto found = plans_.find(key);
    if (found != plans_.end()) return *found->second;
    Plan& plan = make_plan(key);
    plan.use_weights(store_->places());
    if (!gradients_.empty()) plan.use_gradients(gradients_);
    return plan;
  }

  /// All plans use one arena, as large as the largest plan needs.
  Plan& make_plan(const Key& key) {
    const PlanOptions options{key.batch, key.training, methods_, key.training ? smoothing_ : 0};
    auto plan = std::make_unique<Plan>(dnnl_, key.batch == 0
                                                  ? plan_empty_batch(dnnl_, graph_, layouts_)
                                                  : plan_graph(dnnl_, graph_, options, layouts_));
    Plan& made = *plans_.emplace(key, std::move(plan)).first->second;
    if (made.arena_bytes() <= arena_.bytes()) {
      made.use_arena(arena_.data());
      return made;
    }
    arena_ = {};  // freed first, because both may not fit
    arena_ = AlignedMemory(made.arena_bytes());
    for (auto& [other, its] : plans_) its->use_arena(arena_.data());
    return made;
  }

  void take_weights_of_model() {
    const std::vector<torch::Tensor> tensors = model_->parameters();
    for (std::size_t i = 0; i < tensors.size(); ++i)
      store_->from_plain(i, tensors[i].data_ptr<float>(), store_->places()[i]);
  }

  const dnnl::engine dnnl_{dnnl::engine::kind::cpu, 0};
  /// Its buffers are the running statistics; its parameters hold plain copies for load and save.
  const std::shared_ptr<torch::nn::Module> model_;
  const LayerGraph graph_;
  const bool together_;  ///< whether batch norm is over all ranks
  const ChooseMethods methods_;
  const double smoothing_;  ///< label smoothing factor
  Layouts layouts_;
  AlignedMemory arena_;
  std::map<Key, std::unique_ptr<Plan>> plans_;
  std::optional<ParameterStore> store_;
  std::vector<float*> gradients_;
  ArrayView flat_gradients_;
  Ready ready_;
  Plan* trained_ = nullptr;  ///< the plan of the last forward
  Forwarded forwarded_ = Forwarded::nothing;
  observe::Trace* trace_ = nullptr;
};

}  // namespace
}  // namespace onednn

bool has_onednn_engine() {
  return true;
}

std::unique_ptr<Engine> make_onednn_engine(const OnednnEngineOptions& options) {
  const auto model = make_seeded_model(options.model, DataType::float32, options.images,
                                       options.seed, options.zero_gamma);
  if (options.batch_norm_group) ddp::BatchNormConverter(*model).use(*options.batch_norm_group);
  return std::make_unique<onednn::OnednnEngine>(model, onednn::describe(*model), options);
}

void require_plan_for(torch::nn::Sequential model, const data::ImageShape& images) {
  onednn::describe(model, images);
}

std::unique_ptr<Engine> make_onednn_engine(torch::nn::Sequential model,
                                           const OnednnEngineOptions& options) {
  const onednn::LayerGraph graph = onednn::describe(model, options.images);
  return std::make_unique<onednn::OnednnEngine>(model.ptr(), graph, options);
}

}  // namespace lockstep::internal::engine
