// The cost of a row-stationary mapping, in closed form.
#pragma once

#include "dataflow/cost.h"
#include "dataflow/mapping.h"

namespace lockstep::internal::dataflow {

/// Loop counts, from which accesses and cycles are computed.
struct Loops {
  Count strips;          ///< strips of e output rows; the last counts as full, as the array runs it
  Count image_groups;    ///< groups of n images
  Count filter_blocks;   ///< blocks of m filters, in a group of the layer
  Count filter_groups;   ///< groups of p · t filters
  Count channel_groups;  ///< groups of q · r channels
  Count filter_turns;    ///< sum of p over filter groups: the last may have fewer
  Count channel_turns;   ///< sum of q over channel groups
  Count filter_sets;     ///< sum of t over filter groups
  Count channel_sets;    ///< sum of r over channel groups

  /// Passes of the whole layer.
  Count passes(const Layer& layer) const {
    return layer.groups * strips * image_groups * filter_groups * channel_groups;
  }
};

Loops loops_of(const Layer& layer, const Mapping& mapping);

/// REQUIRES: the mapping is allowed.
Cost cost_of(const Layer& layer, const Chip& chip, const Mapping& mapping);

/// Active elements in a full pass: R · e · r · t.
Count active_elements(const Layer& layer, const Mapping& mapping);

}  // namespace lockstep::internal::dataflow
