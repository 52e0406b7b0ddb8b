// Sizes of equal parts.
#pragma once

#include "dataflow/layer.h"

#include <algorithm>
#include <vector>

namespace lockstep::internal::dataflow {

/// The sizes that divide `all` into parts without waste: ⌈all / 1⌉, ⌈all / 2⌉ … 1, limited to
/// `most`.
inline std::vector<Count> even_parts(Count all, Count most) {
  std::vector<Count> sizes;
  for (Count size = std::min(all, most); size >= 1; --size)
    if (ceil_div(all, ceil_div(all, size)) == size) sizes.push_back(size);
  return sizes;
}

}  // namespace lockstep::internal::dataflow
