// The cost of a row-stationary mapping, in closed form.
#pragma once

#include "dataflow/cost.h"
#include "dataflow/mapping.h"

namespace lockstep::dataflow {

/// How often things happen: the numbers that accesses and cycles are made of.
struct Loops {
  Count strips;          ///< of e output rows; all count as full, as the array runs them
  Count image_groups;    ///< of n
  Count filter_blocks;   ///< of m, in a group of the layer
  Count filter_groups;   ///< of p · t
  Count channel_groups;  ///< of q · r
  Count filter_turns;    ///< p, added up over filter groups: the last may have fewer
  Count channel_turns;   ///< q, added up over channel groups
  Count filter_sets;     ///< t, added up over filter groups
  Count channel_sets;    ///< r, added up over channel groups

  /// Over the whole layer.
  Count passes(const Layer& layer) const {
    return layer.groups * strips * image_groups * filter_groups * channel_groups;
  }
};

Loops loops_of(const Layer& layer, const Mapping& mapping);

/// REQUIRES: the mapping is allowed.
Cost cost_of(const Layer& layer, const Chip& chip, const Mapping& mapping);

/// Elements that work in a full pass: R · e · r · t.
Count active_elements(const Layer& layer, const Mapping& mapping);

}  // namespace lockstep::dataflow
