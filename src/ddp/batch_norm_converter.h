// Finds the batch norm layers of a module tree, and replaces them by SyncBatchNorm.
#pragma once

#include <lockstep/sync_batch_norm.h>

#include <torch/torch.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace lockstep::internal::ddp {

/// The implementation of convert_sync_batch_norm, without communication. REQUIRES: the module
/// outlives it, and keeps the same layers until use().
class BatchNormConverter {
 public:
  /// Changes nothing. Throws UsageError that names every batch norm that cannot be replaced.
  explicit BatchNormConverter(torch::nn::Module& module);

  /// Number of batch norm layers.
  std::size_t layers() const { return ready_.size() + places_.size(); }

  /// Replaces the layers by ones that normalise over this group.
  void use(const Group& group);

 private:
  /// The position of a layer in a Sequential.
  struct Place {
    torch::nn::SequentialImpl* owner;
    std::size_t index;
    std::string name;
  };

  void visit(torch::nn::Module& module, const std::string& name);
  void visit_children(torch::nn::Module& module, const std::string& name);

  std::set<const torch::nn::Module*> seen_;
  std::set<SyncBatchNormImpl*> ready_;
  /// By the layer to replace: it may be in several places.
  std::map<std::shared_ptr<torch::nn::Module>, std::vector<Place>> places_;
  std::vector<std::string> stuck_;  ///< batch norm that cannot be replaced
};

}  // namespace lockstep::internal::ddp
