#include "engine/torch/torch_engine.h"

#include "base/blas.h"
#include "ddp/batch_norm_converter.h"
#include "ddp/gradient_hooks.h"
#include "engine/seeded_model.h"
#include "engine/torch/operation_trace.h"
#include "models/model.h"

#include <cstring>
#include <malloc.h>
#include <optional>

namespace lockstep::internal::engine {

namespace {

class TorchEngine : public Engine {
 public:
  explicit TorchEngine(const TorchEngineOptions& options)
      : type_(options.type),
        smoothing_(options.label_smoothing),
        model_(make_seeded_model(options.model, options.type, options.images, options.seed,
                                 options.zero_gamma)),
        together_(options.batch_norm_group.has_value()) {
    if (together_) ddp::BatchNormConverter(*model_).use(*options.batch_norm_group);
  }

  std::string_view name() const override { return "torch"; }

  std::vector<sync::Parameter> parameters() const override { return ddp::describe(*model_); }
  DataType type() const override { return type_; }

  void bind(ArrayView weights, const sync::Gradients& gradients, Ready ready) override {
    torch::NoGradGuard no_grad;
    const auto& slots = gradients.layout().slots();
    std::vector<torch::Tensor> parameters = ddp::trained_parameters(*model_).values();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const ArrayView place = weights.slice(slots[i].begin, slots[i].count);
      torch::Tensor flat = ddp::tensor_over(place, parameters[i].sizes());
      flat.copy_(parameters[i]);
      parameters[i].set_data(flat);
    }
    gradients_ = gradients.all();
    ready_ = std::move(ready);
    hooks_.emplace(std::move(parameters), gradients, ready_);
  }

  Score forward(const data::Batch& batch) override {
    loss_ = torch::Tensor();
    // Batch norm over all ranks needs this rank too.
    if (batch.size() == 0 && !together_) return {};
    model_->train();
    const torch::Tensor labels = labels_of(batch);
    const torch::Tensor logits = model_->forward(images_of(batch));
    if (batch.size() == 0) {
      loss_ = logits.sum();
      return {};
    }
    loss_ = torch::nn::functional::cross_entropy(
        logits, labels,
        torch::nn::functional::CrossEntropyFuncOptions().label_smoothing(smoothing_));
    return score(logits, labels, loss_);
  }

  void backward(double factor) override {
    // Backward adds to the gradients.
    std::memset(gradients_.data, 0, gradients_.bytes());
    if (loss_.defined()) {
      loss_.backward(torch::full_like(loss_, factor));
      loss_ = torch::Tensor();
      return;
    }
    for (std::size_t left = parameters().size(); left > 0; --left) ready_(left - 1);
  }

  Score evaluate(const data::Batch& batch) override {
    if (batch.size() == 0) return {};
    torch::NoGradGuard no_grad;
    model_->eval();
    const torch::Tensor labels = labels_of(batch);
    const torch::Tensor logits = model_->forward(images_of(batch));
    return score(logits, labels, torch::nn::functional::cross_entropy(logits, labels));
  }

  void record_in(observe::Trace* trace) override {
    operations_.reset();
    if (trace) operations_.emplace(*trace);
  }

  std::vector<ArrayView> running_statistics() override { return models::buffer_views(*model_); }
  std::vector<models::StoredTensor> parameter_state() const override {
    return models::parameters_of(*model_);
  }
  std::vector<models::StoredTensor> buffer_state() const override {
    return models::buffers_of(*model_);
  }
  void load(const std::vector<models::StoredTensor>& state, const std::string& source) override {
    models::load_state(*model_, state, source);
  }

 private:
  torch::Tensor images_of(const data::Batch& batch) const {
    auto* pixels = const_cast<float*>(batch.pixels.data());
    const data::ImageShape& shape = model_->images();
    const torch::Tensor images = torch::from_blob(
        pixels,
        {static_cast<std::int64_t>(batch.size()), shape.channels, shape.height, shape.width});
    return type_ == DataType::float64 ? images.to(torch::kFloat64) : images;
  }

  static torch::Tensor labels_of(const data::Batch& batch) {
    auto* labels = const_cast<std::int64_t*>(batch.labels.data());
    return torch::from_blob(labels, {static_cast<std::int64_t>(batch.size())}, torch::kInt64);
  }

  static Score score(const torch::Tensor& logits, const torch::Tensor& labels,
                     const torch::Tensor& mean_loss) {
    torch::NoGradGuard no_grad;
    const auto samples = static_cast<std::size_t>(labels.size(0));
    const auto correct = logits.argmax(1).eq(labels).sum().item<std::int64_t>();
    return {mean_loss.item<double>() * static_cast<double>(samples),
            static_cast<std::size_t>(correct), samples};
  }

  const DataType type_;
  const double smoothing_;  ///< label smoothing factor
  const std::shared_ptr<models::Classifier> model_;
  const bool together_;  ///< whether batch norm is over all ranks
  ArrayView gradients_;
  Ready ready_;
  torch::Tensor loss_;
  std::optional<ddp::GradientHooks> hooks_;
  std::optional<OperationTrace> operations_;
};

}  // namespace

std::unique_ptr<Engine> make_torch_engine(const TorchEngineOptions& options) {
  return std::make_unique<TorchEngine>(options);
}

void use_threads(int threads) {
  torch::set_num_threads(threads);
  set_blas_threads(threads);
}

void keep_freed_memory() {
  constexpr int kAll = 1 << 30;
  ::mallopt(M_MMAP_THRESHOLD, kAll);
  ::mallopt(M_TRIM_THRESHOLD, kAll);
}

}  // namespace lockstep::internal::engine
