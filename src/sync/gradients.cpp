#include "sync/gradients.h"

namespace lockstep::sync {

Gradients::Gradients(Group& group, std::vector<Parameter> parameters, Layout layout)
    : parameters_(std::move(parameters)),
      layout_(std::move(layout)),
      memory_(group.allocate(layout_.bytes() + size_of(layout_.type()))) {}

ArrayView Gradients::last_bucket_and_note() const {
  const ArrayView last = bucket(layout_.buckets().size() - 1);
  return {last.data, last.count + 1, last.type};
}

}  // namespace lockstep::sync
