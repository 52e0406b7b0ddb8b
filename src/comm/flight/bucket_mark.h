// BucketMark: while it lives, the operations that this thread starts belong to a bucket of
// gradients: the flight recorder says so. Those on the bucket's own group also say so in their
// fingerprints, so that ranks notice where one brings a bucket and another something else that is
// just as long.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::comm {

class GroupCore;

/// Whose bucket it is.
struct BucketOwner {
  const GroupCore* group = nullptr;  ///< compared, never used
  std::uint32_t stream = 0;          ///< the how-manieth sync method on the group, from 1
};

/// What a thread works for.
struct Bucketed {
  BucketOwner owner = {};
  std::int32_t bucket = -1;  ///< -1: none
};
inline thread_local Bucketed marked;

class BucketMark {
 public:
  explicit BucketMark(std::size_t bucket, const BucketOwner& owner = {})
      : BucketMark(Bucketed{owner, static_cast<std::int32_t>(bucket)}) {}
  /// As another thread was marked.
  explicit BucketMark(const Bucketed& mark) : before_(marked) { marked = mark; }
  ~BucketMark() { marked = before_; }
  BucketMark(const BucketMark&) = delete;
  BucketMark& operator=(const BucketMark&) = delete;

 private:
  const Bucketed before_;
};

}  // namespace lockstep::comm
