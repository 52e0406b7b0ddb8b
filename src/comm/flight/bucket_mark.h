// BucketMark: while it lives, the operations that this thread starts belong to a bucket of
// gradients: the flight recorder says so.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::comm {

/// -1 outside of any mark.
inline thread_local std::int32_t marked_bucket = -1;

class BucketMark {
 public:
  explicit BucketMark(std::size_t bucket) : before_(marked_bucket) {
    marked_bucket = static_cast<std::int32_t>(bucket);
  }
  ~BucketMark() { marked_bucket = before_; }
  BucketMark(const BucketMark&) = delete;
  BucketMark& operator=(const BucketMark&) = delete;

 private:
  const std::int32_t before_;
};

}  // namespace lockstep::comm
