#include "sync/gradients.h"

namespace lockstep::internal::sync {

namespace {

std::size_t bytes_of_note(const Layout& layout) {
  return size_of(layout.buckets().empty() ? layout.type() : layout.buckets().back().type);
}

}  // namespace

Gradients::Gradients(Group& group, std::vector<Parameter> parameters, Layout layout)
    : parameters_(std::move(parameters)),
      layout_(std::move(layout)),
      types_(layout_.slots().size()),
      memory_(group.allocate(layout_.bytes() + bytes_of_note(layout_))) {
  for (const Bucket& bucket : layout_.buckets())
    for (std::size_t parameter : bucket.parameters) types_[parameter] = bucket.type;
}

ArrayView Gradients::last_bucket_and_alert() const {
  const ArrayView last = bucket(layout_.buckets().size() - 1);
  return {last.data, last.count + 1, last.type};
}

}  // namespace lockstep::internal::sync
