// Support for tests of the onednn engine: an engine in flat memory, and torch's gradients of the
// same model in float64.
#pragma once

#include <lockstep/group.h>

#include "engine/onednn/sequential_engine.h"
#include "engine/random_batch.h"
#include "models/model.h"

#include <gtest/gtest.h>
#include <oneapi/dnnl/dnnl.hpp>

#include <cmath>

namespace lockstep::internal::engine {

/// An engine with its weights and gradients in flat memory, and the parameters reported ready.
struct BoundEngine {
  BoundEngine(Group group, std::unique_ptr<Engine> made)
      : engine(std::move(made)),
        gradients(group, engine->parameters(),
                  sync::Layout(engine->parameters(), DataType::float32)),
        memory(group.allocate(gradients.layout().bytes())) {
    engine->bind(ArrayView(memory.as<float>()).slice(0, gradients.layout().size()), gradients,
                 [this](std::size_t i) { ready.push_back(i); });
  }
  ~BoundEngine() { engine.reset(); }  // before the memory it writes into
  BoundEngine(const BoundEngine&) = delete;
  BoundEngine& operator=(const BoundEngine&) = delete;

  std::span<float> weights(std::size_t parameter) const {
    const sync::Slot& slot = gradients.layout().slots()[parameter];
    return memory.as<float>().subspan(slot.begin, slot.count);
  }
  std::span<float> gradient(std::size_t parameter) const {
    const ArrayView view = gradients.of(parameter);
    return {static_cast<float*>(view.data), view.count};
  }
  std::vector<float> plain_gradient(std::size_t parameter) const {
    const std::vector<std::byte> bytes = engine->to_plain(parameter, gradients.of(parameter));
    const auto* values = reinterpret_cast<const float*>(bytes.data());
    return {values, values + bytes.size() / sizeof(float)};
  }
  Score train(const data::Batch& batch, double factor = 1) {
    const Score score = engine->forward(batch);
    engine->backward(factor);
    return score;
  }

  std::unique_ptr<Engine> engine;
  sync::Gradients gradients;
  Memory memory;
  std::vector<std::size_t> ready;
};

/// |values − expected| / |expected| of two vectors.
inline double relative_error(std::span<const float> values, const torch::Tensor& expected) {
  const torch::Tensor flat = expected.detach().to(torch::kFloat64).flatten().contiguous();
  EXPECT_EQ(static_cast<std::int64_t>(values.size()), flat.numel());
  const auto* wanted = flat.data_ptr<double>();
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    difference += (values[i] - wanted[i]) * (values[i] - wanted[i]);
    norm += wanted[i] * wanted[i];
  }
  return std::sqrt(difference / norm);
}

inline torch::Tensor images_of(const data::Batch& batch, const data::ImageShape& shape) {
  return torch::from_blob(
             const_cast<float*>(batch.pixels.data()),
             {static_cast<std::int64_t>(batch.size()), shape.channels, shape.height, shape.width})
      .to(torch::kFloat64);
}

inline torch::Tensor labels_of(const data::Batch& batch) {
  return torch::from_blob(const_cast<std::int64_t*>(batch.labels.data()),
                          {static_cast<std::int64_t>(batch.size())}, torch::kInt64);
}

/// The sum of a batch's losses; in training mode, computes the gradients of their mean.
template <typename Model>
double torch_loss(Model& model, const data::Batch& batch, const data::ImageShape& shape,
                  bool training) {
  model->train(training);
  const torch::Tensor loss = torch::nn::functional::cross_entropy(
      model->forward(images_of(batch, shape)), labels_of(batch));
  if (training) loss.backward();
  return loss.template item<double>() * static_cast<double>(batch.size());
}

/// A bias that batch norm cancels has rounding noise for a gradient.
inline bool is_noise(const torch::Tensor& gradient) {
  return gradient.norm().template item<double>() < 1e-9;
}

}  // namespace lockstep::internal::engine
