#include "engine/onednn/plan/arena.h"

#include <algorithm>

namespace lockstep::internal::engine::onednn {

std::size_t Arena::reserve(std::size_t bytes) {
  const std::size_t aligned = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  buffers_.push_back({.bytes = aligned});
  return buffers_.size() - 1;
}

void Arena::use(std::size_t buffer, std::size_t step) {
  Buffer& its = buffers_[buffer];
  its.first = its.used ? std::min(its.first, step) : step;
  its.last = its.used ? std::max(its.last, step) : step;
  its.used = true;
}

void Arena::place() {
  std::vector<Buffer*> order;
  for (Buffer& buffer : buffers_)
    if (buffer.used) order.push_back(&buffer);
  std::ranges::stable_sort(order, std::ranges::greater(), &Buffer::bytes);
  std::vector<const Buffer*> placed;
  bytes_ = 0;
  for (Buffer* buffer : order) {
    buffer->offset = lowest_place(*buffer, placed);
    bytes_ = std::max(bytes_, buffer->offset + buffer->bytes);
    placed.insert(std::ranges::upper_bound(placed, buffer->offset, {}, &Buffer::offset), buffer);
  }
}

/// REQUIRES: `placed` is ordered by offset.
std::size_t Arena::lowest_place(const Buffer& buffer,
                                const std::vector<const Buffer*>& placed) const {
  std::size_t offset = 0;
  for (const Buffer* other : placed) {
    if (other->last < buffer.first || buffer.last < other->first) continue;
    if (offset + buffer.bytes <= other->offset) break;
    offset = std::max(offset, other->offset + other->bytes);
  }
  return offset;
}

}  // namespace lockstep::internal::engine::onednn
