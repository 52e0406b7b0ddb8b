// BatchSource: where a training step takes its images from.
#pragma once

#include "data/loader.h"

#include <cstddef>

namespace lockstep::internal::train {

/// The images of one forward and backward: a shard's slice of a global batch, or one of the parts
/// that the slice is computed in (gradient accumulation).
struct MicroBatch {
  std::size_t epoch = 0;         ///< counted from 1
  std::size_t global_batch = 0;  ///< images of all shards and parts in this step
  const data::Batch* images = nullptr;
};

class BatchSource {
 public:
  virtual ~BatchSource() = default;

  /// The next micro-batch: all parts of the first shard that this rank hosts, then of the next
  /// shard, then of the next step. Valid until the next call.
  virtual MicroBatch next() = 0;

  /// Steps that all micro-batches were taken of.
  virtual std::size_t done() const = 0;
};

}  // namespace lockstep::internal::train
