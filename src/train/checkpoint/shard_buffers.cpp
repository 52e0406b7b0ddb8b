#include "train/checkpoint/shard_buffers.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <charconv>

namespace lockstep::internal::train {

namespace {

constexpr std::string_view kShards = "shards.";

}  // namespace

void add_shard_buffers(int shard, std::vector<models::StoredTensor> buffers,
                       std::vector<models::StoredTensor>& all) {
  for (models::StoredTensor& buffer : buffers) {
    buffer.name = fmt::format("{}{}.{}", kShards, shard, buffer.name);
    all.push_back(std::move(buffer));
  }
}

bool ShardBuffers::take(const models::StoredTensor& tensor) {
  std::string_view rest(tensor.name);
  if (!rest.starts_with(kShards)) return false;
  rest.remove_prefix(kShards.size());
  int shard = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), shard);
  if (error != std::errc() || shard < 0 || end == rest.data() + rest.size() || *end != '.')
    return false;
  const std::string name(end + 1, rest.data() + rest.size());
  shards_[shard].emplace(name, tensor);
  return true;
}

bool ShardBuffers::are_of(int shards) const {
  return !shards_.empty() && shards_.size() == static_cast<std::size_t>(shards) &&
         shards_.rbegin()->first == shards - 1;
}

std::vector<models::StoredTensor> ShardBuffers::put_into(std::vector<models::StoredTensor> model,
                                                         int shard,
                                                         const std::string& source) const {
  auto left = shards_.at(shard);
  const std::size_t whole = shards_.begin()->second.size();
  bool fits = left.size() == whole;
  for (models::StoredTensor& tensor : model) {
    const auto found = left.find(tensor.name);
    if (found == left.end()) continue;
    fits = fits && found->second.type == tensor.type && found->second.shape == tensor.shape;
    tensor.data = found->second.data;
    left.erase(found);
  }
  if (!fits || !left.empty())
    throw FileError(fmt::format("{}: the batch-norm statistics of shard {} do not fit the model",
                                source, shard));
  return model;
}

}  // namespace lockstep::internal::train
