// The algorithms of each operation, and the transport features they need. Code that picks, checks
// or times an algorithm uses this table, so the answers always agree.
#pragma once

#include <lockstep/types.h>

#include "comm/fingerprint.h"

#include <string_view>
#include <vector>

namespace lockstep::internal::comm {

/// Transport features beyond messages between two ranks.
struct Offers {
  bool shared_memory = false;  ///< ranks access each other's memory: needed by `direct`
  /// Several hosts, ranks of one host share memory: needed by `hierarchical`.
  bool hierarchy = false;
  bool native = false;  ///< the transport's library has collectives: needed by `native`

  /// Whether the algorithm can run on the transport. `automatic` always can.
  bool has(Algorithm algorithm) const;
};

/// The algorithms of an operation, best first where that does not depend on the length.
/// comm/auto_table.h refines the order for all_reduce. Empty for an operation with a single,
/// unnamed implementation.
std::vector<Algorithm> algorithms_of(Operation operation);

/// The subset of these algorithms that a transport with these features can run.
std::vector<Algorithm> algorithms_of(Operation operation, const Offers& offers);

/// Throws UsageError, which lists the alternatives, unless the operation has the algorithm and the
/// transport has the features it needs. `automatic` always passes. `name` is the operation's name
/// in the message.
void require_algorithm(Operation operation, std::string_view name, Algorithm algorithm,
                       const Offers& offers, std::string_view transport);

}  // namespace lockstep::internal::comm
