#include "train/replica_parts.h"

#include "base/files.h"
#include "models/safetensors.h"
#include "sync/broadcast_text.h"
#include "sync/on_rank_zero.h"
#include "train/config/engine_options.h"
#include "train/config/make_optimizer.h"
#include "train/deliberate_faults.h"

#include <algorithm>

namespace lockstep::internal::train {

namespace {

std::optional<Group> make_norm_group(Group& group, const TrainConfig& config) {
  if (!config.sync_bn || group.size() == 1) return std::nullopt;
  return group.split(0);
}

/// Rank 0 reads for all: other ranks may not see the file. A collective.
std::vector<models::StoredTensor> read_initial(Group& group, const std::filesystem::path& file) {
  std::string content;
  sync::on_rank_zero(group, [&] { content = read_file(file); });
  sync::broadcast_text(group, content);
  return models::parse_safetensors(content, file.string());
}

engine::MadeEngine make_engine(Group& group, const TrainConfig& config,
                               const engine::EngineOptions& options,
                               const engine::Engines& engines) {
  engine::MadeEngine made = engines.make(options);
  if (!config.init.empty())
    made.engine->load(read_initial(group, config.init), config.init.string());
  return made;
}

sync::BucketOptions bucket_options(const Group& group, const TrainConfig& config) {
  const auto bytes = [](double megabytes) {
    return std::max<std::size_t>(1, static_cast<std::size_t>(megabytes * (1 << 20)));
  };
  // A distributed update needs buckets that can be cut into equal parts.
  const int parts = config.method().sync == "sharded" ? group.size() : 1;
  return {bytes(config.first_bucket_mb), bytes(config.bucket_mb), static_cast<std::size_t>(parts)};
}

std::string join_notices(const std::string& engine, const TrainConfig& config) {
  const std::string order = config.shards > 0 ? sync::order_dependence(config.method()) : "";
  return engine + (engine.empty() || order.empty() ? "" : ". ") + order;
}

}  // namespace

ReplicaParts replica_parts(Group group, const TrainConfig& config, const data::ImageShape& images,
                           const engine::Engines& engines) {
  const DeliberateFaults faults(config, group);
  ReplicaParts parts;
  parts.shards = config.shards_of(group.rank(), group.size());
  parts.op = config.shards > 0 ? ReduceOp::sum : ReduceOp::average;
  parts.batch_norm_group = make_norm_group(group, config);
  engine::EngineOptions options = engine_options(config, images, parts.shards.all);
  options.seed = faults.seed(config.seed);
  options.batch_norm_group = parts.batch_norm_group;
  engine::MadeEngine made = make_engine(group, config, options, engines);
  parts.engine = faults.wrap(std::move(made.engine));
  parts.notice = join_notices(made.notice, config);
  parts.buckets = bucket_options(group, config);
  const sync::Method method =
      config.shards > 0 ? sync::along_tree(config.method(), group) : config.method();
  parts.reduces_buckets = method.sync == "ddp";
  parts.make_method = [method, faults, op = parts.op, options = config.method_options()](
                          const Group& group, const sync::Gradients& gradients,
                          const ArrayView& weights) {
    return faults.wrap(sync::make_sync_method(method, group, gradients, op, weights, options),
                       gradients.parameters().size());
  };
  parts.make_optimizer = [&config](const ArrayView& weights, const ArrayView& gradients,
                                   const std::vector<optim::TensorRange>& tensors) {
    return make_optimizer(weights, gradients, tensors, config);
  };
  parts.recipe = config.recipe;
  parts.broadcast_weights = faults.broadcasts_weights();
  return parts;
}

}  // namespace lockstep::internal::train
