// Published mappings and measurements of the Eyeriss chip (Chen, Krishna, Emer and Sze, IEEE
// Journal of Solid-State Circuits, 2017).
#pragma once

#include "dataflow/mapping.h"

#include <string_view>
#include <vector>

namespace lockstep::internal::dataflow {

struct PublishedLayer {
  std::string_view name;
  Mapping mapping;
  double milliseconds;  ///< processing time
  Count active_elements;
  double buffer_megabytes;
  double dram_megabytes;  ///< compressed, unlike in this model
};

struct PublishedModel {
  std::string_view model;
  Count batch;  ///< batch of the measurement
  std::vector<PublishedLayer> layers;
};

/// Null for a model without published figures.
///
/// AlexNet's mappings are those of the paper except for C3, where q 3, r 2, t 2 agrees with the
/// paper's buffer figure and the printed q 4, r 1, t 4 does not. VGG-16's were not printed: e and
/// q · r follow from its active elements and times, the rest from the size of the buffer.
const PublishedModel* published(std::string_view model);

/// The mapping of a layer, limited to its numbers of images and filters. Throws UsageError if none
/// was published.
Mapping published_mapping(std::string_view model, const Layer& layer);

}  // namespace lockstep::internal::dataflow
