#include "sync/layout.h"

#include "base/check.h"

#include <algorithm>

namespace lockstep::internal::sync {

namespace {

constexpr std::size_t kLineBytes = 64;

std::size_t rounded_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Bytes of the parameter, with the gap behind it.
std::size_t bytes_of(const Parameter& parameter, DataType type) {
  return rounded_up(parameter.count * size_of(type), kLineBytes);
}

}  // namespace

struct Layout::Filling {
  struct Open {
    Bucket bucket;
    std::size_t bytes = 0;
    std::size_t last = 0;  ///< position of its last parameter in the order
  };
  std::vector<Open> all;
  std::map<DataType, std::size_t> by_type;  ///< the open bucket of each type
  std::size_t count = 0;
};

Layout::Layout(std::span<const Parameter> parameters, DataType type, const BucketOptions& options,
               std::span<const std::size_t> order)
    : type_(type), slots_(parameters.size()) {
  LOCKSTEP_CHECK(order.empty() || order.size() == parameters.size(), "{} of {} parameters ordered",
                 order.size(), parameters.size());
  if (!parameters.empty()) type_ = parameters[0].type.value_or(type);
  Filling filling;
  std::vector<char> placed(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::size_t number = order.empty() ? parameters.size() - 1 - i : order[i];
    LOCKSTEP_CHECK(number < parameters.size() && placed[number] == 0,
                   "an order of {} parameters names {} twice, or is out of range",
                   parameters.size(), number);
    placed[number] = 1;
    Parameter parameter = parameters[number];
    parameter.type = parameter.type.value_or(type);
    append(filling, number, parameter, options);
  }
  std::ranges::sort(filling.all, {}, &Filling::Open::last);
  for (Filling::Open& open : filling.all) buckets_.push_back(std::move(open.bucket));
  place(parameters, options.parts);
}

void Layout::append(Filling& filling, std::size_t number, const Parameter& parameter,
                    const BucketOptions& options) {
  const DataType type = *parameter.type;
  uniform_ = uniform_ && type == type_;
  const std::size_t bytes = bytes_of(parameter, type);
  const auto found = filling.by_type.find(type);
  const std::size_t at = found == filling.by_type.end() ? filling.all.size() : found->second;
  const std::size_t limit = at == 0 ? options.first_bytes : options.bytes;
  if (at == filling.all.size() || filling.all[at].bytes + bytes > limit) {
    filling.by_type[type] = filling.all.size();
    filling.all.push_back({{{}, {}, type}, 0, 0});
  }
  Filling::Open& open = filling.all[filling.by_type[type]];
  open.bucket.parameters.push_back(number);
  open.bytes += bytes;
  open.last = filling.count++;
}

void Layout::place(std::span<const Parameter> parameters, std::size_t parts) {
  for (Bucket& bucket : buckets_) {
    const std::size_t begin = bytes_;
    const std::size_t width = size_of(bucket.type);
    for (std::size_t number : bucket.parameters) {
      slots_[number] = {bytes_ / width, parameters[number].count};
      bytes_ += bytes_of(parameters[number], bucket.type);
    }
    bytes_ = begin + rounded_up(bytes_ - begin, parts * kLineBytes);
    bucket.slot = {begin / width, (bytes_ - begin) / width};
  }
}

DataType Layout::type() const {
  LOCKSTEP_CHECK(uniform_, "parameters of several types where one is needed");
  return type_;
}

std::vector<std::size_t> Layout::order() const {
  std::vector<std::size_t> order;
  for (const Bucket& bucket : buckets_)
    order.insert(order.end(), bucket.parameters.begin(), bucket.parameters.end());
  return order;
}

}  // namespace lockstep::internal::sync
