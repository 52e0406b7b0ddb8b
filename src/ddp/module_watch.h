// ModuleWatch: whether a module still has the parameters and buffers that it had.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace lockstep::ddp {

/// Notices parameters and buffers that were registered, removed or replaced, or that have another
/// shape, type or device, and frozen parameters that are trained now. Trained parameters may be
/// frozen, and all values may change. Keeps the module.
class ModuleWatch {
 public:
  explicit ModuleWatch(std::shared_ptr<const torch::nn::Module> module);

  /// The first change since construction, in words ("parameter 'a' was replaced ..."); empty if
  /// there is none. Then it only compares a few words a parameter.
  std::string change() const;

  /// Whether a parameter's values lie elsewhere, or in another order, than when this was last
  /// asked, or at construction: they were loaded from a file or replaced by set_data().
  bool moved();

  /// The parameters that the module has now.
  std::unordered_set<const void*> parameters() const;

 private:
  struct Known {
    std::string name;
    torch::Tensor tensor;
    std::vector<std::int64_t> shape;
    torch::TensorOptions options;
    bool trained;
  };
  static std::vector<Known> known(const torch::OrderedDict<std::string, torch::Tensor>& tensors);
  bool is_registered_alike() const;
  /// What is registered now and was not, or the reverse; empty if there is nothing.
  static std::string registration(std::string_view kind, const std::vector<Known>& then,
                                  const torch::OrderedDict<std::string, torch::Tensor>& now);
  static std::string change_of(std::string_view kind, const Known& known);

  const std::shared_ptr<const torch::nn::Module> module_;
  const std::vector<Known> parameters_;
  const std::vector<Known> buffers_;
  /// Where a tensor's values lie. Keeps the memory, so that no other tensor can lie there.
  struct Place {
    c10::Storage storage;
    std::int64_t offset;
    std::vector<std::int64_t> strides;
  };
  std::vector<Place> places_;  ///< of the parameters, when moved() was last asked
};

}  // namespace lockstep::ddp
