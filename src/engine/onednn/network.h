// Network: a network as a plan needs to know it, without torch: layers in an order in which each
// comes after those whose outputs it takes.
#pragma once

#include <lockstep/group.h>

#include "data/images.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::engine::onednn {

/// A value that a layer takes: the output of an earlier layer, by its number, or the images.
inline constexpr int kImages = -1;

/// Where a layer has no such parameter.
inline constexpr int kNone = -1;

/// Height and width.
using Extent = std::array<std::int64_t, 2>;

/// How a convolution or a pool moves over its input.
struct Window {
  Extent size{1, 1};
  Extent stride{1, 1};
  Extent padding{0, 0};  ///< zeros, on both sides
};

/// What batch norm keeps between steps. The memory belongs to whoever described the network.
struct Statistics {
  float* mean = nullptr;
  float* variance = nullptr;
  std::int64_t* batches = nullptr;  ///< how many were seen
  double momentum = 0.1;            ///< the share of the newest batch
  double epsilon = 1e-5;
};

enum class LayerKind {
  convolution,
  linear,  ///< takes the values of an image as one row
  batch_norm,
  relu,
  tanh,
  max_pool,
  average_pool,  ///< padding counts as zeros
  add
};

struct Layer {
  LayerKind kind = LayerKind::relu;
  std::string name;            ///< as torch names it: "features.0"
  std::vector<int> inputs;     ///< two for add, one for all others
  std::int64_t outputs = 0;    ///< channels, or values of a linear layer
  Window window = {};          ///< of convolutions and pools
  int weight = kNone;          ///< number of a parameter
  int bias = kNone;            ///< number of a parameter
  Statistics statistics = {};  ///< of batch norm
  bool then_relu = false;      ///< batch norm and add: negative outputs become zero
  /// Batch norm over the batches of several ranks: theirs.
  std::optional<Group> group = std::nullopt;
};

struct Network {
  struct Parameter {
    std::string name;
    std::vector<std::int64_t> shape;
  };

  data::ImageShape images;
  std::vector<Layer> layers;  ///< the last one's outputs are the scores
  std::vector<Parameter> parameters;
};

/// How many layers take each layer's output.
std::vector<int> count_uses(const Network& network);

/// Lets batch norm and add do the ReLU that follows, where nobody else takes what lies in between.
Network fuse_relu(const Network& network);

}  // namespace lockstep::engine::onednn
