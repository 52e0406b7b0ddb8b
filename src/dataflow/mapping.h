// The mapping of a layer onto the array, row-stationary.
//
// A logical set computes one plane of the output with R × e elements. Element (i, j) slides row i
// of a filter along row j · stride + i of the input. Filter rows are therefore reused along a set's
// rows, input rows along its diagonals, and psums are added up its columns. The array holds r · t
// sets at once: r of different channels, whose columns are chained, and t of different filters. An
// element interleaves p filters and q channels.
//
//   pass    q · r channels × p · t filters × n images × one strip of e output rows
//   block   the passes whose psums stay in the buffer: m filters × n images × e rows
//
// Blocks are ordered filters → images → strips; a block covers all channels.
#pragma once

#include "dataflow/chip.h"

#include <optional>
#include <string>

namespace lockstep::internal::dataflow {

struct Mapping {
  Count m = 1;  ///< filters whose psums are in the buffer at once
  Count n = 1;  ///< images in a pass
  Count e = 1;  ///< output rows in a strip: the width of a set
  Count p = 1;  ///< filters in an element
  Count q = 1;  ///< channels in an element
  Count r = 1;  ///< sets of different channels
  Count t = 1;  ///< sets of different filters

  bool operator==(const Mapping&) const = default;
};

/// The position of sets on the array. A set wider than the array is folded: its columns continue on
/// the rows below. The remaining space holds further sets.
struct Placement {
  Count set_rows = 1;     ///< R
  Count set_columns = 1;  ///< e
  Count folds = 1;        ///< parts that a set is folded into
  Count down = 1;         ///< number of sets on top of each other
  Count across = 1;       ///< number of sets side by side

  Count sets() const { return down * across; }
};

/// The placement of sets with `columns` columns; sets() is 0 if none fits.
Placement place(const Layer& layer, const Chip& chip, Count columns);

/// The rule that forbids the mapping, with the sizes; none if it is allowed. REQUIRES:
/// require_sound() accepts layer and chip.
std::optional<std::string> forbidden(const Layer& layer, const Chip& chip, const Mapping& mapping);

/// Throws UsageError if forbidden.
void require_allowed(const Layer& layer, const Chip& chip, const Mapping& mapping);

/// Words that a block needs in the buffer: its psums, and the input of a pass.
Count buffer_need(const Layer& layer, const Mapping& mapping);

/// "m 96, n 1, e 7, p 16, q 1, r 1, t 2".
std::string text_of(const Mapping& mapping);

}  // namespace lockstep::internal::dataflow
