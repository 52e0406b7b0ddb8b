// Description: a network in the making, layer by layer, from torch's modules.
#pragma once

#include "engine/onednn/network.h"

#include <torch/torch.h>

#include <map>

namespace lockstep::engine::onednn {

/// What to do about a network that no plan can hold.
inline constexpr std::string_view kRemedy =
    "use --engine torch, or DistributedDataParallel in a program of your own";

/// What a layer puts out, and for each image its shape.
struct Values {
  int layer = kImages;
  std::int64_t channels = 0;
  Extent map{1, 1};
  bool flat = false;  ///< a row of values: no layer for maps may follow

  std::int64_t count() const { return channels * map[0] * map[1]; }
};

class Description {
 public:
  /// Knows the parameters of `module`, by whose numbers layers name them.
  Description(const torch::nn::Module& module, const data::ImageShape& images);

  Values images() const;

  /// A layer, or the layers of a Sequential.
  Values add(torch::nn::Module& module, const std::string& name, const Values& input);
  Values add_relu(const std::string& name, const Values& input);
  Values add_sum(const std::string& name, const Values& input, const Values& other);
  Values add_average_pool(const std::string& name, const Values& input, const Window& window);
  static Values flat(Values values);

  /// Throws UsageError if a parameter takes no part.
  Network finish(const Values& scores);

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

  Network network_;
  std::map<const void*, int> numbers_;  ///< of parameters, by torch's own handle
  std::vector<bool> used_;              ///< by parameter
};

[[noreturn]] void refuse(const std::string& layer, const torch::nn::Module& module,
                         const std::string& why);

/// A module that is no layer of torch's: a block of one of our models, or refused.
Values add_block_of_model(Description& network, torch::nn::Module& module, const std::string& name,
                          const Values& input);

}  // namespace lockstep::engine::onednn
