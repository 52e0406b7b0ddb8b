#include "sync/layout.h"

namespace lockstep::sync {

Layout::Layout(std::span<const Parameter> parameters, DataType type, const BucketOptions& options)
    : type_(type), slots_(parameters.size()) {
  const std::size_t width = size_of(type);
  const std::size_t line = 64 / width;
  for (std::size_t left = parameters.size(); left > 0; --left) {
    const std::size_t number = left - 1;
    const std::size_t padded = (parameters[number].count + line - 1) / line * line;
    const std::size_t limit = buckets_.size() <= 1 ? options.first_bytes : options.bytes;
    const bool full = buckets_.empty() || (buckets_.back().slot.count + padded) * width > limit;
    if (full) buckets_.push_back({{size_, 0}, {}});
    slots_[number] = {size_, parameters[number].count};
    buckets_.back().slot.count += padded;
    buckets_.back().parameters.push_back(number);
    size_ += padded;
  }
}

}  // namespace lockstep::sync
