// Cutting a number of things into parts.
#pragma once

#include "dataflow/layer.h"

#include <algorithm>
#include <vector>

namespace lockstep::dataflow {

/// The sizes that cut `all` into parts with nothing to spare: ⌈all / 1⌉, ⌈all / 2⌉ … 1, those of at
/// most `most`.
inline std::vector<Count> even_parts(Count all, Count most) {
  std::vector<Count> sizes;
  for (Count size = std::min(all, most); size >= 1; --size)
    if (ceil_div(all, ceil_div(all, size)) == size) sizes.push_back(size);
  return sizes;
}

}  // namespace lockstep::dataflow
