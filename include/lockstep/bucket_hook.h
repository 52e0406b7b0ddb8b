// BucketHook: your own way to average a bucket of gradients, with compression, say.
#pragma once

#include <lockstep/group.h>

#include <cstddef>
#include <functional>
#include <span>

namespace lockstep {

/// One parameter's gradient within a bucket.
struct GradientPart {
  std::size_t begin = 0;  ///< its first element
  std::size_t count = 0;
  std::size_t rows = 0;  ///< the parameter's first dimension; 0 where that is not known
};

/// Gradients that are reduced as one message. They belong to the hook until its Work was waited
/// for.
struct GradientBucket {
  std::size_t number = 0;  ///< 0 is the first to be complete; all ranks have the same buckets
  std::size_t count = 0;   ///< how many buckets there are
  /// What this rank has, to be replaced by what all ranks are to have. Gradients lie one after
  /// another with gaps of zeros in between.
  ArrayView gradients;
  /// The parameters in it, in the order in which they lie; the array lives as long as the bucket.
  std::span<const GradientPart> parts = {};
};

/// Starts the reduction of a bucket, and returns a Work after which the bucket has the result: the
/// same to the bit on every rank, as a rule the average. Called for every bucket once a backward,
/// in the order of their numbers, on the thread that runs backward, while backward goes on: let it
/// return soon, and leave what follows communication to Work::then. Collectives on `group` come in
/// the same order on all ranks if every call makes the same ones.
///
/// What it throws ends backward. Buckets may change, in number and length, after the first
/// backward.
using BucketHook = std::function<Work(Group& group, const GradientBucket& bucket)>;

}  // namespace lockstep
