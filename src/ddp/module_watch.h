// ModuleWatch: detects changes of a module's parameters and buffers.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace lockstep::internal::ddp {

/// Detects parameters and buffers that were registered, removed or replaced, that have another
/// shape, type or device, and frozen parameters that are trained now. Trained parameters may be
/// frozen, and all values may change. Keeps the module alive.
class ModuleWatch {
 public:
  explicit ModuleWatch(std::shared_ptr<const torch::nn::Module> module);

  /// The first change since construction, as a sentence ("parameter 'a' was replaced ..."); empty
  /// if there is none. Cheap: it compares a few words per parameter.
  std::string change() const;

  /// Whether a parameter's values have moved in memory, or have other strides, since the last call
  /// or the construction: they were loaded from a file or replaced by set_data().
  bool moved();

  /// The present parameters of the module.
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
  bool is_registered_the_same() const;
  /// A tensor that was registered or removed, as a sentence; empty if there is none.
  static std::string registration(std::string_view kind, const std::vector<Known>& then,
                                  const torch::OrderedDict<std::string, torch::Tensor>& now);
  static std::string change_of(std::string_view kind, const Known& known);

  const std::shared_ptr<const torch::nn::Module> module_;
  const std::vector<Known> parameters_;
  const std::vector<Known> buffers_;
  /// The memory of a tensor's values. Keeps it alive, so that no other tensor can take its place.
  struct Place {
    c10::Storage storage;
    std::int64_t offset;
    std::vector<std::int64_t> strides;
  };
  std::vector<Place> places_;  ///< of the parameters, at the last call of moved()
};

}  // namespace lockstep::internal::ddp
