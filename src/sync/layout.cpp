#include "sync/layout.h"

#include "base/check.h"

namespace lockstep::sync {

Layout::Layout(std::span<const Parameter> parameters, DataType type, const BucketOptions& options,
               std::span<const std::size_t> order)
    : type_(type), slots_(parameters.size()) {
  LOCKSTEP_CHECK(order.empty() || order.size() == parameters.size(), "{} of {} parameters ordered",
                 order.size(), parameters.size());
  std::vector<char> placed(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::size_t number = order.empty() ? parameters.size() - 1 - i : order[i];
    LOCKSTEP_CHECK(number < parameters.size() && placed[number] == 0,
                   "an order of {} parameters names {} twice, or is out of range",
                   parameters.size(), number);
    placed[number] = 1;
    append(number, parameters[number].count, options);
  }
  close_bucket(options.parts);
}

void Layout::close_bucket(std::size_t parts) {
  if (buckets_.empty()) return;
  const std::size_t unit = parts * line();
  std::size_t& count = buckets_.back().slot.count;
  const std::size_t gap = (unit - count % unit) % unit;
  count += gap;
  size_ += gap;
}

void Layout::append(std::size_t number, std::size_t count, const BucketOptions& options) {
  const std::size_t width = size_of(type_);
  const std::size_t padded = (count + line() - 1) / line() * line();
  const std::size_t limit = buckets_.size() <= 1 ? options.first_bytes : options.bytes;
  const bool full = buckets_.empty() || (buckets_.back().slot.count + padded) * width > limit;
  if (full) {
    close_bucket(options.parts);
    buckets_.push_back({{size_, 0}, {}});
  }
  slots_[number] = {size_, count};
  buckets_.back().slot.count += padded;
  buckets_.back().parameters.push_back(number);
  size_ += padded;
}

std::vector<std::size_t> Layout::order() const {
  std::vector<std::size_t> order;
  for (const Bucket& bucket : buckets_)
    order.insert(order.end(), bucket.parameters.begin(), bucket.parameters.end());
  return order;
}

}  // namespace lockstep::sync
