// Gradients: all of a model's gradients as one flat array in the group's memory. An engine writes
// them there, a sync method averages them there, an optimizer reads them there: no copies in
// between. Behind the last of them lies one more element, the note, for the sync method's own use.
#pragma once

#include <lockstep/group.h>

#include "sync/layout.h"

namespace lockstep::sync {

class Gradients {
 public:
  /// A collective: all ranks have the same layout.
  Gradients(Group& group, std::vector<Parameter> parameters, Layout layout);

  const Layout& layout() const { return layout_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

  /// REQUIRES: they are of one type.
  ArrayView all() const { return {memory_.data(), layout_.size(), layout_.type()}; }
  ArrayView of(std::size_t parameter) const {
    return at(layout_.slots()[parameter], types_[parameter]);
  }
  ArrayView bucket(std::size_t number) const {
    return at(layout_.buckets()[number].slot, layout_.buckets()[number].type);
  }

  /// The last bucket and the note. REQUIRES: there is a bucket.
  ArrayView last_bucket_and_note() const;

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

}  // namespace lockstep::sync
