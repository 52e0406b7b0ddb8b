// Finds the batch norm of a module tree, and puts SyncBatchNorm in its place.
#pragma once

#include <lockstep/sync_batch_norm.h>

#include <torch/torch.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace lockstep::ddp {

/// What convert_sync_batch_norm does, apart from making a group: nothing is sent. REQUIRES: the
/// module outlives it, and has the same layers until use() was called.
class BatchNormConverter {
 public:
  /// Looks only. Throws UsageError that names every batch norm that cannot be replaced.
  explicit BatchNormConverter(torch::nn::Module& module);

  /// How many layers have batch norm.
  std::size_t layers() const { return ready_.size() + places_.size(); }

  /// From now on they normalise over this group.
  void use(const Group& group);

 private:
  /// Where a Sequential has a layer.
  struct Place {
    torch::nn::SequentialImpl* owner;
    std::size_t index;
    std::string name;
  };

  void visit(torch::nn::Module& module, const std::string& name);
  void visit_children(torch::nn::Module& module, const std::string& name);

  std::set<const torch::nn::Module*> seen_;
  std::set<SyncBatchNormImpl*> ready_;
  /// By the layer that is to be replaced: several places may share it.
  std::map<std::shared_ptr<torch::nn::Module>, std::vector<Place>> places_;
  std::vector<std::string> stuck_;  ///< batch norm that cannot be replaced
};

}  // namespace lockstep::ddp
