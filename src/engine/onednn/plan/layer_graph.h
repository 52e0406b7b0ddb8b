// LayerGraph: a model as a plan needs it, without torch: its layers, each after those whose outputs
// it uses.
#pragma once

#include <lockstep/group.h>

#include "data/images.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::engine::onednn {

/// The input of a layer: the number of an earlier layer, or the images.
inline constexpr int kImages = -1;

/// Marks a layer without such a parameter.
inline constexpr int kNone = -1;

/// Height and width.
using Extent = std::array<std::int64_t, 2>;

/// The window of a convolution or a pool.
struct Window {
  Extent size{1, 1};
  Extent stride{1, 1};
  Extent padding{0, 0};  ///< zeros on both sides
};

/// The running statistics of batch norm. The memory belongs to the described module.
struct RunningStatistics {
  float* mean = nullptr;
  float* variance = nullptr;
  std::int64_t* batches = nullptr;  ///< number of batches seen
  double momentum = 0.1;            ///< weight of the newest batch
  double epsilon = 1e-5;
};

enum class LayerKind {
  convolution,
  linear,  ///< reads the values of an image as one row
  batch_norm,
  relu,
  tanh,
  max_pool,
  average_pool,  ///< includes the zeros of padding
  add
};

struct Layer {
  LayerKind kind = LayerKind::relu;
  std::string name;                   ///< torch's name: "features.0"
  std::vector<int> inputs;            ///< two for add, one for all others
  std::int64_t outputs = 0;           ///< number of channels, or of values of a linear layer
  Window window = {};                 ///< of convolutions and pools
  int weight = kNone;                 ///< number of a parameter
  int bias = kNone;                   ///< number of a parameter
  RunningStatistics statistics = {};  ///< of batch norm
  bool then_relu = false;             ///< batch norm and add: followed by a fused ReLU
  /// Set for batch norm over the batches of this group's ranks.
  std::optional<Group> group = std::nullopt;
};

struct LayerGraph {
  struct Parameter {
    std::string name;
    std::vector<std::int64_t> shape;
  };

  data::ImageShape images;
  std::vector<Layer> layers;  ///< the last one's outputs are the scores
  std::vector<Parameter> parameters;
};

/// The number of layers that use each layer's output.
std::vector<int> count_uses(const LayerGraph& graph);

/// Fuses a ReLU into the batch norm or add before it, if no other layer uses the value in between.
LayerGraph fuse_relu(const LayerGraph& graph);

}  // namespace lockstep::internal::engine::onednn
