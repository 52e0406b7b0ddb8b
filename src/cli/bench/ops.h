// The operations that `lockstep bench` can time: how each is called, and its expected result.
//
// Rank r's array holds (i + r) mod m at index i: whole numbers, small enough for sums that are
// exact in any order and any type.
#pragma once

#include <lockstep/group.h>

#include "comm/fingerprint.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::cli {

/// The arrays of an operation. The whole array is in the group's memory; scratch has the same
/// length and is not.
struct BenchArrays {
  ArrayView values;
  ArrayView scratch;
};

/// The index of a checked element, and what the ranks' arrays held there.
struct BenchPlace {
  int rank = 0;
  int ranks = 1;
  std::size_t i = 0;
  std::size_t count = 0;                          ///< number of elements of the whole array
  std::function<std::int64_t(int rank)> written;  ///< what a rank's array held at index i

  std::int64_t sum() const;
  /// The rank whose part contains i; the number of ranks if i is in the remainder.
  int owner() const;
};

struct BenchOp {
  std::string name;
  comm::Operation operation = comm::Operation::none;  ///< decides the algorithms; none: a message
  std::function<void(Group&, const BenchArrays&, Algorithm)> run;
  /// Copies the result from scratch to the checked array; null if the result is already there.
  std::function<void(Group&, const BenchArrays&)> settle;
  /// The expected value of an element; empty if it is not defined.
  std::function<std::optional<std::int64_t>(const BenchPlace&)> expected;
  std::function<double(int ranks)> busbw_factor;
  double share = 1;   ///< fraction of the measured time that counts: half for a ping-pong
  bool sized = true;  ///< whether the operation has an array
  bool reduces = false;
};

const std::vector<BenchOp>& bench_ops();
/// REQUIRES: one of bench_ops() has this name.
const BenchOp& bench_op(const std::string& name);

}  // namespace lockstep::internal::cli
