// The batch-norm buffers of each shard in a checkpoint, named "shards.3.features.1.running_mean". A
// resumed run loads them; every other reader uses the model's own buffers, which are their average.
#pragma once

#include "models/stored_tensor.h"

#include <map>
#include <string>
#include <vector>

namespace lockstep::internal::train {

/// Appends the buffers of one shard to `all`.
void add_shard_buffers(int shard, std::vector<models::StoredTensor> buffers,
                       std::vector<models::StoredTensor>& all);

/// The shard buffers of one checkpoint.
class ShardBuffers {
 public:
  /// Takes the tensor if it is a shard's buffer; returns whether it is.
  bool take(const models::StoredTensor& tensor);

  /// Whether buffers of exactly so many shards were taken. Without --shards a run may resume with
  /// another number of workers, and does not use them then.
  bool are_of(int shards) const;

  /// The model with the buffers of this shard. Throws FileError, which names `source`, if the model
  /// has no such buffer.
  std::vector<models::StoredTensor> put_into(std::vector<models::StoredTensor> model, int shard,
                                             const std::string& source) const;

 private:
  std::map<int, std::map<std::string, models::StoredTensor>>
      shards_;  ///< by shard, then by the buffer's name
};

}  // namespace lockstep::internal::train
