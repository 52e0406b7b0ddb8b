// Description: builds a layer graph from torch's modules, layer by layer.
#pragma once

#include "engine/onednn/plan/layer_graph.h"

#include <torch/torch.h>

#include <map>

namespace lockstep::internal::engine::onednn {

/// The remedy for a model that the engine does not support.
inline constexpr std::string_view kRemedy =
    "use --engine torch, or DistributedDataParallel in your own program";

/// The output of a layer, and its shape per image.
struct Values {
  int layer = kImages;
  std::int64_t channels = 0;
  Extent map{1, 1};
  bool flat = false;  ///< a row of values: no layer for maps may follow

  std::int64_t count() const { return channels * map[0] * map[1]; }
};

class Description {
 public:
  /// `module` owns the parameters, to which layers refer by number.
  Description(const torch::nn::Module& module, const data::ImageShape& images);

  Values images() const;

  /// Adds a layer, or the layers of a Sequential.
  Values add(torch::nn::Module& module, const std::string& name, const Values& input);
  Values add_relu(const std::string& name, const Values& input);
  Values add_sum(const std::string& name, const Values& input, const Values& other);
  Values add_average_pool(const std::string& name, const Values& input, const Window& window);
  static Values flat(Values values);

  /// Throws UsageError if a parameter is not used.
  LayerGraph finish(const Values& scores);

 private:
  Values add_convolution(torch::nn::Conv2dImpl& layer, const std::string& name,
                         const Values& input);
  Values add_linear(torch::nn::LinearImpl& layer, const std::string& name, const Values& input);
  template <typename BatchNorm>
  Values add_batch_norm(BatchNorm& layer, const std::string& name, const Values& input);
  Values add_layers(torch::nn::SequentialImpl& layers, const std::string& name, Values values);
  template <typename Pool>
  Values add_pool(Pool& layer, LayerKind kind, const std::string& name, const Values& input);

  Values push(Layer layer, const Values& output);
  int number_of(const torch::Tensor& parameter, const std::string& layer);

  LayerGraph graph_;
  std::map<const void*, int> numbers_;  ///< parameter numbers by TensorImpl
  std::vector<bool> used_;              ///< by parameter
};

[[noreturn]] void refuse(const std::string& layer, const torch::nn::Module& module,
                         const std::string& why);

/// Adds a module that is not a layer of torch: a block of one of our models. Others are refused.
Values add_block_of_model(Description& graph, torch::nn::Module& module, const std::string& name,
                          const Values& input);

}  // namespace lockstep::internal::engine::onednn
