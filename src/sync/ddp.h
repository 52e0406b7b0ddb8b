// ddp: gradients are averaged bucket by bucket while backward still runs. As soon as all gradients
// of a bucket are ready, its all-reduce starts on the group's thread; the last bucket, after which
// there is nothing left to overlap with, runs on the caller's.
#pragma once

#include "sync/sync_method.h"

namespace lockstep::sync {

class Ddp : public SyncMethod {
 public:
  Ddp(Group group, const Gradients& gradients, Algorithm algorithm);
  ~Ddp() override;

  void ready(std::size_t parameter) override;

  /// Throws Error that names the parameters that were never ready.
  void finish() override;

  /// Forgets what was ready: backward did not end as it should, or its gradients are not wanted.
  void reset();

 private:
  void require_all_ready() const;
  /// Buckets under way belong to the group until they have ended, well or not.
  void await_started();

  Group group_;
  const Gradients& gradients_;
  const Algorithm algorithm_;
  std::vector<std::size_t> bucket_of_;  ///< by parameter
  std::vector<char> ready_;             ///< by parameter
  std::vector<std::size_t> missing_;    ///< by bucket: gradients not ready yet
  std::vector<Work> started_;           ///< by bucket, in order: all ranks must start them alike
};

}  // namespace lockstep::sync
