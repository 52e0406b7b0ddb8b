// Recording: a simulation as JSON, for the page that plays it back.
#pragma once

#include "dataflow/simulator.h"

#include <nlohmann/json.hpp>

namespace lockstep::internal::dataflow {

/// Maximum number of recorded events: keeps the page small enough to open.
constexpr Count kMostEvents = 200'000;

struct Recording {
  Simulation simulation;
  /// filter, input (padded) and output as nested lists; `passes` with the positions and contents of
  /// elements; `cycles`, in which products are [element, image, filter, channel, column, tap,
  /// count, psum], hops [from, to, image, filter, row, column, sum] and writes [element, image,
  /// filter, row, column, sum, read].
  nlohmann::json json;
};

/// Throws UsageError as simulate does, and for more events than can be recorded.
Recording record(const Operands& operands, const Chip& chip, const Mapping& mapping,
                 Count mac_width, bool serial = false);

}  // namespace lockstep::internal::dataflow
