#include "train/replica.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "models/safetensors.h"
#include "sync/share_text.h"
#include "train/engine_options.h"
#include "train/learning.h"
#include "train/same_layouts.h"
#include "train/shard_buffers.h"
#include "train/while_others_wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lockstep::train {

namespace {

std::optional<Group> make_norm_group(Group& group, const TrainConfig& config) {
  if (!config.sync_bn || group.size() == 1) return std::nullopt;
  return group.split(0);
}

/// Rank 0 reads for all: it may be the only one that can see the file. A collective.
std::vector<models::StoredTensor> read_initial(Group& group, const std::filesystem::path& file) {
  std::string content;
  while_others_wait(group, [&] { content = read_file(file); });
  sync::share_text(group, content);
  return models::parse_safetensors(content, file.string());
}

engine::MadeEngine make_engine(Group& group, const TrainConfig& config,
                               const data::ImageShape& images, int shards, std::uint64_t seed,
                               const std::optional<Group>& norm_group) {
  engine::EngineOptions options = engine_options(config, images, shards);
  options.seed = seed;
  options.batch_norm_group = norm_group;
  engine::MadeEngine made = engine::make_engine(options);
  if (!config.init.empty())
    made.engine->load(read_initial(group, config.init), config.init.string());
  return made;
}

sync::Layout make_layout(Group& group, const engine::Engine& engine, const TrainConfig& config) {
  require_same_layouts(group, engine);
  auto bytes = [](double megabytes) {
    return std::max<std::size_t>(1, static_cast<std::size_t>(megabytes * (1 << 20)));
  };
  // Whoever shares out the update cuts buckets into equal parts.
  const int parts = config.method().sync == "sharded" ? group.size() : 1;
  return sync::Layout(
      engine.parameters(), engine.type(),
      {bytes(config.first_bucket_mb), bytes(config.bucket_mb), static_cast<std::size_t>(parts)});
}

/// What a group has moved since `before`.
void add(const Counters& after, const Counters& before, Record& record) {
  record.times.communication += after.seconds - before.seconds;
  record.times.wait += after.wait_seconds - before.wait_seconds;
  record.bytes += static_cast<double>(after.bytes - before.bytes);
  record.operations += static_cast<double>(after.operations - before.operations);
}

std::string notice_of(const engine::MadeEngine& made, const TrainConfig& config) {
  const std::string order = config.shards > 0 ? sync::order_of_its_own(config.method()) : "";
  return made.notice + (made.notice.empty() || order.empty() ? "" : ". ") + order;
}

constexpr std::string_view kOptimizer = "optimizer.";

std::string optimizer_name(const std::string& kind, const sync::Parameter& parameter) {
  return fmt::format("{}{}.{}", kOptimizer, kind, parameter.name);
}

}  // namespace

Replica::Replica(Group group, const TrainConfig& config, const data::ImageShape& images)
    : group_(std::move(group)),
      shards_(config.shards_of(group_.rank(), group_.size())),
      mistake_(parse_mistake(config.mistake)),
      op_(config.shards > 0 ? ReduceOp::sum : ReduceOp::average),
      norm_group_(make_norm_group(group_, config)),
      made_(make_engine(group_, config, images, shards_.all,
                        config.seed + (mistake_ == Mistake::different_weights ? group_.rank() : 0),
                        norm_group_)),
      engine_(std::move(made_.engine)),
      statistics_(*engine_, shards_),
      gradients_(group_, engine_->parameters(), make_layout(group_, *engine_, config)),
      weights_(group_.allocate(gradients_.layout().bytes())),
      accumulation_(gradients_, config.recipe.accumulate),
      sum_(gradients_, shards_.count),
      chosen_(config.shards > 0 ? sync::along_tree(config.method(), group_) : config.method()),
      method_(sync::make_sync_method(chosen_, group_, gradients_, op_, flat_weights(),
                                     config.method_options())),
      notice_(notice_of(made_, config)),
      trace_(gradients_, chosen_.sync == "ddp"),
      recipe_(config.recipe),
      tensors_(tensor_ranges(*engine_, gradients_, recipe_.no_decay_bn_bias)),
      slowdown_(Slowdown::parse(config.slow)) {
  const ArrayView weights = flat_weights();
  engine_->bind(weights, gradients_, [this](std::size_t parameter) { ready(parameter); });
  if (mistake_ != Mistake::different_weights) group_.broadcast(weights);
  const std::optional<sync::Share> share = method_->share();
  optimizer_ = share ? make_optimizer(share->weights, share->gradients, {}, config)
                     : make_optimizer(weights, gradients_.all(), tensors_, config);
  method_->adopt_weights();
}

ArrayView Replica::flat_weights() const {
  return {weights_.data(), gradients_.layout().size(), engine_->type()};
}

Replica::~Replica() {
  engine_.reset();  // its hooks write into the gradients, which must outlive it
}

Record Replica::step(Feed& feed, const std::function<void(const Record&)>& agree) {
  Record record;
  observe::Times& times = record.times;
  const Counters before = group_.counters();
  trace_.begin_step();
  {
    observe::Span total(times.total, trace_.trace(), "iteration", observe::EventKind::iteration,
                        static_cast<std::int64_t>(feed.done() + 1));
    std::vector<double> losses;
    for (int number = 0; number < shards_.count; ++number)
      losses.push_back(compute_shard(feed, number, record));
    record.loss_sum = sync::tree_sum(losses);
    times.hidden = group_.counters().seconds - before.seconds;
    if (mistake_ == Mistake::sync_after_update) update(times);
    synchronise(times);
    if (agree) agree(record);
    if (mistake_ != Mistake::sync_after_update) update(times);
  }
  const Counters after = group_.counters();
  add(after, before, record);
  return record;
}

double Replica::compute_shard(Feed& feed, int number, Record& record) {
  double loss_sum = 0;
  for (int part = 0; part < recipe_.accumulate; ++part) {
    const engine::Score score = compute(feed, number, part, record);
    loss_sum += score.loss_sum;
    record.correct += static_cast<double>(score.correct);
    record.samples += static_cast<double>(score.samples);
  }
  return loss_sum;
}

engine::Score Replica::compute(Feed& feed, int number, int part, Record& record) {
  observe::Times& times = record.times;
  Feed::Share share;
  engine::Score score;
  {
    observe::Span span(times.data, trace_.trace(), "data");
    share = feed.next();
  }
  {
    observe::Span span(times.forward, trace_.trace(), "forward");
    if (part == 0) statistics_.enter(number);
    sum_.begin(number);
    accumulation_.begin(part);
    score = engine_->forward(*share.images);
    if (part == 0) slowdown_.suffer(group_.rank());
  }
  count_batch_norm(times.forward, record);
  {
    observe::Span span(times.backward, trace_.trace(), "backward");
    engine_->backward(factor_of(share));
  }
  count_batch_norm(times.backward, record);
  record.epoch = static_cast<double>(share.epoch);
  return score;
}

double Replica::factor_of(const Feed::Share& share) const {
  // What the ranks' gradients come to must be the mean over the global batch, even where their
  // shares of it differ in size.
  const double mine =
      static_cast<double>(share.images->size()) / static_cast<double>(share.global_batch);
  if (op_ == ReduceOp::sum) return mine;
  return mine * group_.size() * (mistake_ == Mistake::sum ? group_.size() : 1);
}

void Replica::count_batch_norm(double& part, Record& record) {
  if (!norm_group_) return;
  const Counters now = norm_group_->counters();
  const double seconds = now.seconds - norm_counted_.seconds;
  part -= seconds;
  record.times.exposed += seconds;
  add(now, norm_counted_, record);
  norm_counted_ = now;
}

void Replica::synchronise(observe::Times& times) {
  observe::Span span(times.exposed, trace_.trace(), "synchronise");
  if (mistake_ == Mistake::sync_after_update)  // it was not to touch the gradients before
    for (std::size_t left = gradients_.parameters().size(); left > 0; --left)
      method_->ready(left - 1);
  method_->finish();
}

void Replica::update(observe::Times& times) {
  const double before = group_.counters().seconds;
  double seconds = 0;
  {
    observe::Span span(seconds, trace_.trace(), "optimizer");
    clip_gradients(gradients_.all(), tensors_, recipe_);
    optimizer_->begin_step();
    method_->step(*optimizer_);
  }
  // Methods that share out the update, or average weights, communicate here.
  const double talked = std::min(seconds, group_.counters().seconds - before);
  times.exposed += talked;
  times.optimizer += seconds - talked;
}

void Replica::ready(std::size_t parameter) {
  if (!accumulation_.add(parameter) || !sum_.add(parameter)) return;
  trace_.gradient_ready(parameter);
  if (mistake_ != Mistake::sync_after_update) method_->ready(parameter);
}

void Replica::record_in(observe::Trace* trace) {
  if (!trace) group_.observe({});
  if (!trace && norm_group_) norm_group_->observe({});
  engine_->record_in(trace);
  trace_.record_in(trace);
  if (!trace) return;
  group_.observe([this](const ObservedOperation& operation) { trace_.operation_ended(operation); });
  if (norm_group_)
    norm_group_->observe(
        [this](const ObservedOperation& operation) { trace_.layer_operation_ended(operation); });
}

std::vector<models::StoredTensor> Replica::model_state() const {
  std::vector<models::StoredTensor> all = engine_->parameter_state();
  for (auto& buffer : engine_->buffer_state()) all.push_back(std::move(buffer));
  return all;
}

std::vector<models::StoredTensor> Replica::stored_model() {
  if (norm_group_) return model_state();  // the same on all ranks
  std::vector<models::StoredTensor> all;
  const bool mine = group_.rank() == 0;
  statistics_.show(
      group_,
      [&](int shard) {
        if (mine && shards_.all > 1) add_shard_buffers(shard, engine_->buffer_state(), all);
      },
      [&] {
        if (!mine) return;
        for (models::StoredTensor& tensor : model_state()) all.push_back(std::move(tensor));
      });
  return all;
}

std::vector<models::StoredTensor> Replica::state() {
  method_->settle(*optimizer_);
  std::vector<sync::WholeState> whole =
      sync::gather_state(group_, *method_, *optimizer_, gradients_.layout());
  std::vector<models::StoredTensor> all = stored_model();
  if (group_.rank() != 0) return {};
  add_optimizer_state(std::move(whole), all);
  return all;
}

std::vector<models::StoredTensor> Replica::own_state() {
  std::vector<models::StoredTensor> all;
  statistics_.show_kept([&](int shard) { add_shard_buffers(shard, engine_->buffer_state(), all); });
  for (models::StoredTensor& tensor : model_state()) all.push_back(std::move(tensor));
  add_optimizer_state(sync::own_state(*optimizer_), all);
  return all;
}

void Replica::add_optimizer_state(std::vector<sync::WholeState> whole,
                                  std::vector<models::StoredTensor>& all) const {
  const auto& parameters = gradients_.parameters();
  for (sync::WholeState& state : whole)
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const sync::Slot& slot = gradients_.layout().slots()[i];
      const ArrayView part = state.view().slice(slot.begin, slot.count);
      std::vector<std::byte> plain = engine_->to_plain(i, part);
      const auto count = static_cast<std::int64_t>(plain.size() / size_of(part.type));
      all.push_back(
          {optimizer_name(state.name, parameters[i]), part.type, {count}, std::move(plain)});
    }
  all.push_back(steps_of(*optimizer_));
}

void Replica::restore(const std::vector<models::StoredTensor>& state, const std::string& source) {
  std::vector<models::StoredTensor> model;
  ShardBuffers buffers;
  std::map<std::string_view, const models::StoredTensor*> rest;
  for (const models::StoredTensor& tensor : state) {
    if (tensor.name.starts_with(kOptimizer))
      rest.emplace(tensor.name, &tensor);
    else if (!buffers.take(tensor))
      model.push_back(tensor);
  }
  engine_->load(model, source);
  statistics_.spread();
  for (int i = 0; buffers.are_of(shards_.all) && i < shards_.count; ++i) {
    statistics_.enter(i);
    engine_->load(buffers.put_into(model, shards_.first + i, source), source);
  }
  method_->adopt_weights();
  std::vector<std::byte> room(optimizer_->state().empty() ? 0 : gradients_.layout().bytes());
  const ArrayView whole(room.data(), gradients_.layout().size(), engine_->type());
  for (const optim::OptimizerState& kind : optimizer_->state()) {
    for (std::size_t i = 0; i < gradients_.parameters().size(); ++i) {
      const sync::Slot& slot = gradients_.layout().slots()[i];
      const ArrayView part = whole.slice(slot.begin, slot.count);
      const std::string name = optimizer_name(kind.name, gradients_.parameters()[i]);
      const auto found = rest.find(name);
      if (found == rest.end() || found->second->type != part.type ||
          !engine_->from_plain(i, found->second->data, part))
        throw FileError(fmt::format("{}: '{}' is missing or does not fit", source, name));
    }
    sync::take_share(group_, *method_, whole, kind.values);
  }
  const auto steps = rest.find(kOptimizerSteps);
  restore_steps(*optimizer_, steps == rest.end() ? nullptr : steps->second, source);
}

void Replica::average_statistics() {
  method_->settle(*optimizer_);
  if (norm_group_) return;
  statistics_.average(group_);
}

engine::Score Replica::evaluate_share(const data::Loader& loader, const data::Range& mine) {
  constexpr std::size_t kBatch = 250;
  data::Batch batch;
  std::vector<std::uint32_t> indices;
  engine::Score all;
  for (std::size_t begin = mine.begin; begin < mine.end; begin += kBatch) {
    indices.clear();
    for (std::size_t i = begin; i < std::min(begin + kBatch, mine.end); ++i)
      indices.push_back(static_cast<std::uint32_t>(i));
    loader.load(indices, batch);
    const engine::Score score = engine_->evaluate(batch);
    all.loss_sum += score.loss_sum;
    all.correct += score.correct;
    all.samples += score.samples;
  }
  return all;
}

engine::Score Replica::evaluate(const data::Loader& loader, std::size_t count) {
  average_statistics();
  std::vector<double> losses;
  std::vector<double> sums(3);
  for (int shard = shards_.first; shard < shards_.first + shards_.count; ++shard) {
    const engine::Score score = evaluate_share(loader, data::share(count, shard, shards_.all));
    losses.push_back(score.loss_sum);
    sums[1] += static_cast<double>(score.correct);
    sums[2] += static_cast<double>(score.samples);
  }
  sums[0] = sync::tree_sum(losses);
  group_.all_reduce(sums, ReduceOp::sum,
                    op_ == ReduceOp::sum ? sync::tree_algorithm(group_) : Algorithm::automatic);
  return {sums[0], static_cast<std::size_t>(sums[1]), static_cast<std::size_t>(sums[2])};
}

}  // namespace lockstep::train
