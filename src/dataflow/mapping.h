// How a layer is laid onto the array, row-stationary.
//
// A logical set computes one plane of the output: R × e elements, of which element (i, j) slides
// row i of a filter along row j · stride + i of the input. So filter rows are shared along a set's
// rows, input rows along its diagonals, and psums are added up its columns. The array holds r · t
// sets at once: r of different channels, whose columns are added on, and t of different filters.
// An element interleaves p filters and q channels.
//
//   pass    q · r channels × p · t filters × n images × one strip of e output rows
//   block   the passes whose psums wait in the buffer: m filters × n images × e rows
//
// Blocks follow each other as filters → images → strips; within a block, all channels.
#pragma once

#include "dataflow/chip.h"

#include <optional>
#include <string>

namespace lockstep::dataflow {

struct Mapping {
  Count m = 1;  ///< filters whose psums are in the buffer at once
  Count n = 1;  ///< images of a pass
  Count e = 1;  ///< output rows of a strip: the width of a set
  Count p = 1;  ///< filters in an element
  Count q = 1;  ///< channels in an element
  Count r = 1;  ///< sets of different channels
  Count t = 1;  ///< sets of different filters

  bool operator==(const Mapping&) const = default;
};

/// How sets lie on the array. A set wider than the array is folded: its columns continue on the
/// rows below. What room is left holds further sets.
struct Placement {
  Count set_rows = 1;     ///< R
  Count set_columns = 1;  ///< e
  Count folds = 1;        ///< parts that a set is cut to
  Count down = 1;         ///< sets that fit below each other
  Count across = 1;       ///< and beside each other

  Count sets() const { return down * across; }
};

/// Room for sets of `columns` columns; sets() is 0 where not even one fits.
Placement place(const Layer& layer, const Chip& chip, Count columns);

/// What forbids the mapping, said with the sizes; nothing if it is allowed. REQUIRES: sound layer
/// and chip.
std::optional<std::string> forbidden(const Layer& layer, const Chip& chip, const Mapping& mapping);

/// Throws UsageError if forbidden.
void require_allowed(const Layer& layer, const Chip& chip, const Mapping& mapping);

/// Words of the buffer that a block needs: its psums, and the input of a pass.
Count buffer_need(const Layer& layer, const Mapping& mapping);

/// "m 96, n 1, e 7, p 16, q 1, r 1, t 2".
std::string text_of(const Mapping& mapping);

}  // namespace lockstep::dataflow
