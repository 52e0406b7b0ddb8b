// Layout: where each parameter lies when all of a model's parameters, or their gradients, are one
// flat array. The flat array is cut into buckets, contiguous runs of parameters that are reduced as
// one message.
//
// Parameters lie in reverse order, because backward finishes the last layer's gradients first: so
// the first bucket is the first to be complete. Whoever has seen a backward may know an order that
// is truer. Each parameter starts at a cache line; the gap before it, or at the end of a bucket,
// stays zero.
//
// Parameters may be of several types. A bucket has those of one type, and buckets come in the order
// in which they are complete.
#pragma once

#include <lockstep/types.h>

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep::sync {

struct Parameter {
  std::string name;
  std::size_t count = 0;    ///< elements
  std::string layout = {};  ///< how they lie, where that is not plain
  std::size_t rows = 0;     ///< its first dimension, where elements lie in plain order; 0 if not
  std::optional<DataType> type = {};  ///< where it is not that of the layout
};

struct BucketOptions {
  /// The first bucket is small, so that communication starts early in backward.
  std::size_t first_bytes = 1 << 20;
  /// The others: larger ones cost less overhead a byte, smaller ones overlap better with backward.
  std::size_t bytes = 25 << 20;
  /// Every bucket can be cut into so many equal parts that begin at cache lines; what is missing to
  /// that is a gap at its end.
  std::size_t parts = 1;
};

/// A run of elements of the flat array, counted in elements of its own type.
struct Slot {
  std::size_t begin = 0;
  std::size_t count = 0;
};

struct Bucket {
  Slot slot;
  std::vector<std::size_t> parameters;  ///< in the order in which they lie
  DataType type = DataType::float32;
};

class Layout {
 public:
  /// A bucket is closed when the next parameter would make it larger than its limit; a parameter
  /// larger than the limit has a bucket of its own. `order` says in which order parameters lie
  /// where that is not the reverse. REQUIRES: it is empty, or names every parameter once.
  Layout(std::span<const Parameter> parameters, DataType type, const BucketOptions& options = {},
         std::span<const std::size_t> order = {});

  /// Whether all parameters are of one type.
  bool is_uniform() const { return uniform_; }
  /// REQUIRES: is_uniform().
  DataType type() const;
  /// Elements of the flat array, gaps included. REQUIRES: is_uniform().
  std::size_t size() const { return bytes_ / size_of(type()); }
  std::size_t bytes() const { return bytes_; }

  /// By the parameter's number.
  const std::vector<Slot>& slots() const { return slots_; }
  /// In the order in which backward completes them.
  const std::vector<Bucket>& buckets() const { return buckets_; }
  /// Of all parameters, as they lie.
  std::vector<std::size_t> order() const;

 private:
  /// Buckets that are filled, with what it takes to order them.
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

}  // namespace lockstep::sync
