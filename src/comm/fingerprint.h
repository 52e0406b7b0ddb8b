// Fingerprint: a description of the collective that a rank is about to run. Ranks compare
// fingerprints before any data moves; see Transport.
#pragma once

#include <lockstep/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::comm {

enum class Operation : std::uint8_t {
  none,
  all_reduce,
  reduce,
  reduce_scatter,
  broadcast,
  all_gather,
  gather,
  scatter,
  barrier,
  allocate,
  split
};
constexpr Operation kLastOperation = Operation::split;

/// In the order of the enumerators.
constexpr std::array<std::string_view, 11> kOperationNames{
    "nothing yet", "all_reduce", "reduce",  "reduce_scatter", "broadcast", "all_gather",
    "gather",      "scatter",    "barrier", "allocate",       "split"};
static_assert(kOperationNames.size() == static_cast<std::size_t>(kLastOperation) + 1);

/// "all_reduce". The text has static lifetime.
std::string_view name_of(Operation operation);
/// Throws UsageError, which lists the valid names: collectives on arrays, and barrier.
Operation parse_operation(std::string_view name);

/// Trivially copyable, because it is stored in memory that processes share.
struct Fingerprint {
  Operation operation = Operation::none;
  DataType type = DataType::uint8;
  ReduceOp reduce = ReduceOp::sum;
  Algorithm algorithm = Algorithm::automatic;
  std::int32_t root = -1;      ///< -1 for an operation without a root
  std::uint64_t count = 0;     ///< elements of one rank's part
  std::uint64_t sequence = 0;  ///< number of the collective within its group, from 1
  /// Marks the collective as belonging to a gradient bucket, so that two collectives of equal
  /// length cannot be confused. `stream` is the number of the sync method on this group, from 1.
  std::uint32_t stream = 0;  ///< 0: none
  std::int32_t bucket = -1;  ///< -1: none

  bool operator==(const Fingerprint&) const = default;

  /// "all_reduce #17 of 1024 float32 (sum, ring)", followed by " for bucket 0 of stream 1" if it
  /// belongs to a bucket.
  std::string text() const;
};

/// Throws MismatchError if the ranks' fingerprints differ. The message lists each rank's call and
/// is the same on every rank.
void require_agreement(const std::vector<Fingerprint>& calls_by_rank);

}  // namespace lockstep::internal::comm
