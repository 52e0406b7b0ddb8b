// Gradients: all gradients of a model as one flat array in the group's memory. The engine writes
// them there, the sync method averages them there, and the optimizer reads them there, without
// copies. One more element lies behind the last gradient: the alert, which the sync method uses.
#pragma once

#include <lockstep/group.h>

#include "sync/layout.h"

namespace lockstep::internal::sync {

class Gradients {
 public:
  /// A collective: all ranks have the same layout.
  Gradients(Group& group, std::vector<Parameter> parameters, Layout layout);

  const Layout& layout() const { return layout_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

  /// REQUIRES: all parameters are of one type.
  ArrayView all() const { return {memory_.data(), layout_.size(), layout_.type()}; }
  ArrayView of(std::size_t parameter) const {
    return at(layout_.slots()[parameter], types_[parameter]);
  }
  ArrayView bucket(std::size_t number) const {
    return at(layout_.buckets()[number].slot, layout_.buckets()[number].type);
  }

  /// The last bucket with the alert behind it. REQUIRES: there is a bucket.
  ArrayView last_bucket_and_alert() const;

  const Memory& memory() const { return memory_; }

 private:
  ArrayView at(const Slot& slot, DataType type) const {
    return {static_cast<std::byte*>(memory_.data()) + slot.begin * size_of(type), slot.count, type};
  }

  std::vector<Parameter> parameters_;
  Layout layout_;
  std::vector<DataType> types_;  ///< by parameter
  Memory memory_;
};

}  // namespace lockstep::internal::sync
