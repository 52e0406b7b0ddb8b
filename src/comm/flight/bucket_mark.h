// BucketMark: while it exists, the operations that this thread starts are attributed to a gradient
// bucket in the flight recorder. Operations on the bucket's own group also carry the bucket in
// their fingerprints, so that ranks detect when one reduces a bucket and another reduces some other
// array of equal length.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::internal::comm {

class GroupCore;

/// The owner of a bucket.
struct BucketOwner {
  const GroupCore* group = nullptr;  ///< compared only, never dereferenced
  std::uint32_t stream = 0;          ///< number of the sync method on the group, from 1
};

/// The bucket that a thread works on.
struct Bucketed {
  BucketOwner owner = {};
  std::int32_t bucket = -1;  ///< -1: none
};
inline thread_local Bucketed marked;

class BucketMark {
 public:
  explicit BucketMark(std::size_t bucket, const BucketOwner& owner = {})
      : BucketMark(Bucketed{owner, static_cast<std::int32_t>(bucket)}) {}
  /// Copies the mark of another thread.
  explicit BucketMark(const Bucketed& mark) : before_(marked) { marked = mark; }
  ~BucketMark() { marked = before_; }
  BucketMark(const BucketMark&) = delete;
  BucketMark& operator=(const BucketMark&) = delete;

 private:
  const Bucketed before_;
};

}  // namespace lockstep::internal::comm
