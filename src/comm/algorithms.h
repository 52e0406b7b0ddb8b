// Which algorithms each operation has, and what a transport must offer for them. Whoever picks,
// checks or times an algorithm asks here, so that they cannot disagree.
#pragma once

#include <lockstep/types.h>

#include "comm/fingerprint.h"

#include <string_view>
#include <vector>

namespace lockstep::comm {

/// What a transport has beyond messages between two ranks.
struct Offers {
  bool shared_memory = false;  ///< ranks reach into each other's memory: `direct`
  bool hierarchy = false;      ///< several hosts, ranks of one host share memory: `hierarchical`
  bool native = false;         ///< its own library has collectives: `native`

  /// Whether the algorithm can run there. `automatic` always can.
  bool has(Algorithm algorithm) const;
};

/// The algorithms of an operation, best first as far as that does not depend on the length;
/// comm/auto_table.h refines it for all_reduce. Empty where there is only one way, which has no
/// name.
std::vector<Algorithm> algorithms_of(Operation operation);

/// Those of them that a transport with these offers can run.
std::vector<Algorithm> algorithms_of(Operation operation, const Offers& offers);

/// Throws a UsageError that says what there is, unless the operation has the algorithm and the
/// transport offers what it needs. `automatic` is always there. The message calls the operation
/// `name`.
void require_algorithm(Operation operation, std::string_view name, Algorithm algorithm,
                       const Offers& offers, std::string_view transport);

}  // namespace lockstep::comm
