// The operations that `lockstep bench` can time: how each is called, and what it must give.
//
// Rank r's array holds (i + r) mod m at place i: whole numbers, small enough for sums that are
// exact in any order and any type.
#pragma once

#include <lockstep/group.h>

#include "comm/fingerprint.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

/// What an operation works on. The whole array lies in the group's memory; scratch is as long and
/// elsewhere.
struct BenchArrays {
  ArrayView values;
  ArrayView scratch;
};

/// Where a checked element is, and what the ranks' arrays held there.
struct BenchPlace {
  int rank = 0;
  int ranks = 1;
  std::size_t i = 0;
  std::size_t count = 0;                          ///< elements of the whole array
  std::function<std::int64_t(int rank)> written;  ///< what a rank's array held at i

  std::int64_t sum() const;
  /// The rank whose part i is in; as many as there are ranks for what is left over.
  int owner() const;
};

struct BenchOp {
  std::string name;
  comm::Operation operation = comm::Operation::none;  ///< that has its algorithms; none: a message
  std::function<void(Group&, const BenchArrays&, Algorithm)> run;
  /// Copies the result from scratch to where it is checked; null where it is there already.
  std::function<void(Group&, const BenchArrays&)> settle;
  /// What the array must hold afterwards; nothing where that is not defined.
  std::function<std::optional<std::int64_t>(const BenchPlace&)> expected;
  std::function<double(int ranks)> busbw_factor;
  double share = 1;   ///< of the measured time that counts: half of a ping-pong
  bool sized = true;  ///< whether it has an array at all
  bool reduces = false;
};

const std::vector<BenchOp>& bench_ops();
/// REQUIRES: one of bench_ops() has this name.
const BenchOp& bench_op(const std::string& name);

}  // namespace lockstep::cli
