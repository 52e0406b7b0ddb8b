// What a rank says it is about to do. Ranks compare fingerprints before any data move; see
// Transport.
#pragma once

#include <lockstep/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::comm {

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

/// "all_reduce"; lives as long as the program.
std::string_view name_of(Operation operation);
/// Throws UsageError that says what there is: collectives that move or combine arrays, and barrier.
Operation parse_operation(std::string_view name);

/// Trivially copyable, because it lies in memory that processes share.
struct Fingerprint {
  Operation operation = Operation::none;
  DataType type = DataType::uint8;
  ReduceOp reduce = ReduceOp::sum;
  Algorithm algorithm = Algorithm::automatic;
  std::int32_t root = -1;      ///< -1 where the operation has none
  std::uint64_t count = 0;     ///< elements of one rank's part
  std::uint64_t sequence = 0;  ///< the how-manieth collective of this group, from 1
  /// What it is for, so that two that are alike cannot be taken for each other: a bucket of
  /// gradients of the how-manieth sync method that works on this group, from 1.
  std::uint32_t stream = 0;  ///< 0: none
  std::int32_t bucket = -1;  ///< -1: none

  bool operator==(const Fingerprint&) const = default;

  /// "all_reduce #17 of 1024 float32 (sum, ring)"; " for bucket 0 of stream 1" behind it where that
  /// is so.
  std::string text() const;
};

/// If the ranks' fingerprints differ, throws the MismatchError that lists who called what: the same
/// text on every rank.
void require_agreement(const std::vector<Fingerprint>& calls_by_rank);

}  // namespace lockstep::comm
