// Each shard's batch-norm statistics as a checkpoint keeps them, as
// "shards.3.features.1.running_mean" beside the model, whose own are their average: a run goes on
// with these, everyone else uses those.
#pragma once

#include "models/stored_tensor.h"

#include <map>
#include <string>
#include <vector>

namespace lockstep::train {

void add_shard_buffers(int shard, std::vector<models::StoredTensor> buffers,
                       std::vector<models::StoredTensor>& all);

/// Those of one checkpoint.
class ShardBuffers {
 public:
  /// False if it is none of them.
  bool take(const models::StoredTensor& tensor);

  /// Whether they are those of so many shards. Without --shards a run may go on with others.
  bool are_of(int shards) const;

  /// The model with this shard's. Throws FileError that names `source` if the model has no such
  /// buffer.
  std::vector<models::StoredTensor> put_into(std::vector<models::StoredTensor> model, int shard,
                                             const std::string& source) const;

 private:
  std::map<int, std::map<std::string, models::StoredTensor>> shards_;  ///< by the model's names
};

}  // namespace lockstep::train
