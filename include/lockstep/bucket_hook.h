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
  /// Its number among all parameters that are trained: it stays the same when buckets change.
  std::size_t parameter = 0;
  /// What the hook gave for this parameter in the backward before was not used, on any rank: that
  /// backward failed, or (under DdpOptions::allow_unused) no rank had a gradient for it. A hook
  /// with a memory goes back to what it remembered of the parameter before that.
  bool discarded = false;
};

/// Gradients that are reduced as one message. They belong to the hook until its Work was waited
/// for.
struct GradientBucket {
  std::size_t number = 0;  ///< 0 is the first to be complete; all ranks have the same buckets
  std::size_t count = 0;   ///< how many buckets there are
  /// What this rank has, to be replaced by what all ranks are to have. Gradients lie one after
  /// another with gaps of zeros in between. All are of one type; a module with parameters of
  /// several types has buckets of each.
  ArrayView gradients;
  /// The parameters in it, in the order in which they lie; the array lives as long as the bucket.
  std::span<const GradientPart> parts = {};
};

/// Starts the reduction of a bucket, and returns a Work after which the bucket has the result: the
/// same to the bit on every rank, as a rule the average. Called for every bucket once a backward,
/// in the order of their numbers, on the thread that runs backward, while backward goes on: let it
/// return soon, and leave what follows communication to Work::then.
///
/// `group` has the ranks of the wrapper's group, with the same numbers, and is the wrapper's own:
/// collectives on it come in the same order on all ranks if every call makes the same ones. Those
/// on another group may not: other wrappers and your own code use it, in an order of their own.
///
/// What it throws ends backward. Buckets may change, in number, length and order of their
/// parameters, after the first backward: GradientPart::parameter says which is which.
using BucketHook = std::function<Work(Group& group, const GradientBucket& bucket)>;

}  // namespace lockstep
