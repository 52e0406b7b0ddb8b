// BucketHook: your own reduction of a bucket of gradients, for example with compression.
#pragma once

#include <lockstep/group.h>

#include <cstddef>
#include <functional>
#include <span>

namespace lockstep {

/// The gradient of one parameter within a bucket.
struct GradientPart {
  std::size_t begin = 0;  ///< index of its first element in the bucket
  std::size_t count = 0;  ///< elements
  std::size_t rows = 0;   ///< the parameter's first dimension; 0 if that is not known
  /// Number of the parameter among all trained parameters. It stays the same when buckets change.
  std::size_t parameter = 0;
  /// True if the hook's result for this parameter in the previous backward was not used on any
  /// rank: that backward failed, or no rank had a gradient for it (DdpOptions::allow_unused). A
  /// hook that keeps state must return to its state of the parameter before that backward.
  bool discarded = false;
};

/// Gradients that are reduced as one message. They belong to the hook until its Work was waited
/// for.
struct GradientBucket {
  std::size_t number = 0;  ///< 0 is the first to be complete; all ranks have the same buckets
  std::size_t count = 0;   ///< number of buckets
  /// This rank's gradients, which the hook replaces by the result of all ranks. Gradients lie one
  /// after another, with gaps of zeros between them. All have one type: a module with parameters of
  /// several types has buckets of each.
  ArrayView gradients;
  /// The parameters of the bucket in memory order. The array lives as long as the bucket.
  std::span<const GradientPart> parts = {};
};

/// Starts the reduction of a bucket and returns a Work. When the Work has ended, the bucket must
/// have the result, usually the average, the same to the bit on every rank.
///
/// Called once per bucket and backward, in the order of the buckets' numbers, on the thread that
/// runs backward, while backward continues. It should return soon: put what follows communication
/// into Work::then(). If it throws, backward throws.
///
/// `group` has the ranks of the wrapper's group with the same numbers, and belongs to the wrapper.
/// Call your collectives on it, the same ones in every call, so that their order is the same on all
/// ranks. On another group their order could differ between ranks.
///
/// After the first backward the number, length and order of buckets may change:
/// GradientPart::parameter identifies a parameter.
using BucketHook = std::function<Work(Group& group, const GradientBucket& bucket)>;

}  // namespace lockstep
