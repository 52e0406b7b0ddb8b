// Layout: the position of each parameter in the flat array of a model's parameters or gradients.
// The flat array is cut into buckets, contiguous runs of parameters that are reduced as one
// message.
//
// Parameters lie in reverse order, because backward finishes the last layer's gradients first: the
// first bucket is therefore complete first. An order recorded in a backward may be more accurate.
// Each parameter starts at a cache line. The gap before it, or at the end of a bucket, stays zero.
//
// Parameters may be of several types. A bucket holds parameters of one type. Buckets lie in the
// order in which they are complete.
#pragma once

#include <lockstep/types.h>

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep::internal::sync {

struct Parameter {
  std::string name;
  std::size_t count = 0;    ///< elements
  std::string layout = {};  ///< memory format, if it is not plain
  std::size_t rows = 0;     ///< size of the first dimension in plain order; 0 in any other order
  std::optional<DataType> type = {};  ///< if it is not the type of the layout
};

struct BucketOptions {
  /// Limit of the first bucket. It is small, so that communication starts early in backward.
  std::size_t first_bytes = 1 << 20;
  /// Limit of the others: large buckets cost less overhead per byte, small ones overlap better.
  std::size_t bytes = 25 << 20;
  /// Every bucket can be cut into this many equal parts that begin at cache lines; a gap at its end
  /// fills it up.
  std::size_t parts = 1;
};

/// A run of elements of the flat array, counted in elements of its own type.
struct Slot {
  std::size_t begin = 0;
  std::size_t count = 0;
};

struct Bucket {
  Slot slot;
  std::vector<std::size_t> parameters;  ///< in memory order
  DataType type = DataType::float32;
};

class Layout {
 public:
  /// A bucket is closed when the next parameter would exceed its limit; a parameter above the limit
  /// has its own bucket. `order` is the memory order if it is not the reverse. REQUIRES: it is
  /// empty, or names every parameter once.
  Layout(std::span<const Parameter> parameters, DataType type, const BucketOptions& options = {},
         std::span<const std::size_t> order = {});

  /// Whether all parameters are of one type.
  bool is_uniform() const { return uniform_; }
  /// REQUIRES: is_uniform().
  DataType type() const;
  /// Elements of the flat array, gaps included. REQUIRES: is_uniform().
  std::size_t size() const { return bytes_ / size_of(type()); }
  std::size_t bytes() const { return bytes_; }

  /// By parameter number.
  const std::vector<Slot>& slots() const { return slots_; }
  /// In the order in which backward completes them.
  const std::vector<Bucket>& buckets() const { return buckets_; }
  /// Parameter numbers in memory order.
  std::vector<std::size_t> order() const;

 private:
  /// The buckets being filled, with the data that orders them.
  struct Filling;
  void append(Filling& filling, std::size_t number, const Parameter& parameter,
              const BucketOptions& options);
  void place(std::span<const Parameter> parameters, std::size_t parts);

  DataType type_;
  bool uniform_ = true;
  std::size_t bytes_ = 0;
  std::vector<Slot> slots_;
  std::vector<Bucket> buckets_;
};

}  // namespace lockstep::internal::sync
