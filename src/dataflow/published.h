// What was published of Eyeriss: mappings, and what was measured on the chip. (Chen, Krishna, Emer
// and Sze, IEEE Journal of Solid-State Circuits, 2017.)
#pragma once

#include "dataflow/mapping.h"

#include <string_view>
#include <vector>

namespace lockstep::dataflow {

struct PublishedLayer {
  std::string_view name;
  Mapping mapping;
  double milliseconds;  ///< processing time
  Count active_elements;
  double buffer_megabytes;
  double dram_megabytes;  ///< compressed, which this model is not
};

struct PublishedNetwork {
  std::string_view network;
  Count batch;  ///< with which it was measured
  std::vector<PublishedLayer> layers;
};

/// Null for a network of which nothing was published.
///
/// AlexNet's mappings are those of the paper but for C3, where q 3, r 2, t 2 meets the paper's own
/// buffer figure, and the printed q 4, r 1, t 4 does not. VGG-16's were not printed: e and q · r
/// are those that its active elements and times imply, the rest what the buffer has room for.
const PublishedNetwork* published(std::string_view network);

/// The mapping of a layer, with no more images and filters than it has. Throws UsageError if none
/// was published.
Mapping published_mapping(std::string_view network, const Layer& layer);

}  // namespace lockstep::dataflow
