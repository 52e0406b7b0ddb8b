#include "train/replica.h"

#include <lockstep/error.h>

#include "base/deadline.h"
#include "comm/flight/flight_recorder.h"
#include "comm/group_core.h"
#include "comm/purpose.h"
#include "train/checkpoint/shard_buffers.h"
#include "train/config/make_optimizer.h"
#include "train/config/same_layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lockstep::internal::train {

using comm::Purpose, comm::PurposeMark;

namespace {

sync::Layout make_layout(Group& group, const engine::Engine& engine,
                         const sync::BucketOptions& buckets) {
  require_same_layouts(group, engine);
  return sync::Layout(engine.parameters(), engine.type(), buckets);
}

/// Adds what a group has moved between two readings of its counters.
void add(const Counters& after, const Counters& before, run::Record& record) {
  record.times.communication += after.seconds - before.seconds;
  record.bytes += static_cast<double>(after.bytes - before.bytes);
  record.operations += static_cast<double>(after.operations - before.operations);
}

constexpr std::string_view kOptimizer = "optimizer.";

std::string optimizer_name(const std::string& kind, const sync::Parameter& parameter) {
  return fmt::format("{}{}.{}", kOptimizer, kind, parameter.name);
}

}  // namespace

Replica::Replica(Group group, ReplicaParts parts)
    : group_(std::move(group)),
      shards_(parts.shards),
      op_(parts.op),
      norm_group_(std::move(parts.batch_norm_group)),
      engine_(std::move(parts.engine)),
      statistics_(*engine_, shards_),
      gradients_(group_, engine_->parameters(), make_layout(group_, *engine_, parts.buckets)),
      weights_(group_.allocate(gradients_.layout().bytes())),
      recipe_(std::move(parts.recipe)),
      accumulation_(gradients_, recipe_.accumulate),
      sum_(gradients_, shards_.count),
      method_(parts.make_method(group_, gradients_, flat_weights())),
      notice_(std::move(parts.notice)),
      trace_(gradients_, parts.reduces_buckets),
      tensors_(tensor_ranges(*engine_, gradients_, recipe_.no_decay_bn_bias)) {
  const ArrayView weights = flat_weights();
  engine_->bind(weights, gradients_, [this](std::size_t parameter) { ready(parameter); });
  if (parts.broadcast_weights) {
    const PurposeMark mark(Purpose::weights);
    group_.broadcast(weights);
  }
  const std::optional<sync::OwnedSlice> slice = method_->owned_slice();
  optimizer_ = slice ? parts.make_optimizer(slice->weights, slice->gradients, {})
                     : parts.make_optimizer(weights, gradients_.all(), tensors_);
  method_->adopt_weights();
}

ArrayView Replica::flat_weights() const {
  return {weights_.data(), gradients_.layout().size(), engine_->type()};
}

Replica::~Replica() {
  engine_.reset();  // its hooks write into the gradients, which must outlive it
}

run::Record Replica::step(BatchSource& batches, const BeforeUpdate& before_update) {
  run::Record record;
  const std::size_t iteration = batches.done() + 1;
  comm::note_step(iteration);
  const Counters before = group_.counters();
  trace_.begin_step();
  {
    observe::Span total(record.times.total, trace_.trace(), "iteration",
                        observe::EventKind::iteration, static_cast<std::int64_t>(iteration));
    std::vector<double> losses;
    for (int number = 0; number < shards_.count; ++number)
      losses.push_back(compute_shard(batches, number, record));
    record.loss_sum = sync::tree_sum(losses);
    record.times.hidden = group_.counters().seconds - before.seconds;
    record.arrived = now_seconds();
    synchronise(record.times);
    if (before_update) {
      observe::Span span(record.times.exposed, trace_.trace(), "synchronise");
      before_update(record);
    }
    update(record.times);
  }
  add(group_.counters(), before, record);
  return record;
}

double Replica::compute_shard(BatchSource& batches, int number, run::Record& record) {
  double loss_sum = 0;
  for (int part = 0; part < recipe_.accumulate; ++part) {
    const engine::Score score = compute(batches, number, part, record);
    loss_sum += score.loss_sum;
    record.correct += static_cast<double>(score.correct);
    record.samples += static_cast<double>(score.samples);
  }
  return loss_sum;
}

engine::Score Replica::compute(BatchSource& batches, int number, int part, run::Record& record) {
  observe::Times& times = record.times;
  MicroBatch batch;
  engine::Score score;
  {
    observe::Span span(times.data, trace_.trace(), "data");
    batch = batches.next();
  }
  {
    observe::Span span(times.forward, trace_.trace(), "forward");
    const PurposeMark mark(Purpose::batch_norm);
    if (part == 0) statistics_.enter(number);
    sum_.begin(number);
    accumulation_.begin(part);
    score = engine_->forward(*batch.images);
  }
  count_batch_norm(times.forward, record);
  {
    observe::Span span(times.backward, trace_.trace(), "backward");
    const PurposeMark mark(Purpose::batch_norm);
    run_backward(loss_weight(batch));
  }
  count_batch_norm(times.backward, record);
  record.epoch = static_cast<double>(batch.epoch);
  return score;
}

void Replica::run_backward(double weight) {
  try {
    engine_->backward(weight);
  } catch (...) {
    // With synchronised batch norm, other ranks wait for this one within their own backward, where
    // they would never join the reductions that abandon() starts.
    const PurposeMark mark(Purpose::gradients);
    if (!norm_group_) method_->abandon();
    throw;
  }
}

double Replica::loss_weight(const MicroBatch& batch) const {
  // The combined gradients are those of the mean loss over the global batch, also where ranks have
  // different numbers of images.
  const double fraction =
      static_cast<double>(batch.images->size()) / static_cast<double>(batch.global_batch);
  return op_ == ReduceOp::sum ? fraction : fraction * group_.size();
}

void Replica::count_batch_norm(double& part, run::Record& record) {
  if (!norm_group_) return;
  const Counters now = norm_group_->counters();
  const double seconds = now.seconds - norm_counted_.seconds;
  part -= seconds;
  record.times.exposed += seconds;
  record.times.wait += now.wait_seconds - norm_counted_.wait_seconds;
  add(now, norm_counted_, record);
  norm_counted_ = now;
}

void Replica::synchronise(observe::Times& times) {
  observe::Span span(times.exposed, trace_.trace(), "synchronise");
  const PurposeMark mark(Purpose::gradients);
  method_->finish();
}

void Replica::update(observe::Times& times) {
  const PurposeMark mark(Purpose::weights);
  const double before = group_.counters().seconds;
  double seconds = 0;
  double stepping = 0;
  {
    observe::Span span(seconds, trace_.trace(), "optimizer");
    clip_gradients(gradients_.all(), tensors_, recipe_);
    optimizer_->begin_step();
    const double start = now_seconds();
    method_->step(*optimizer_);
    stepping = now_seconds() - start;
  }
  // Methods that distribute the update, or average weights, communicate here. A server computes
  // the update on its own threads while the worker waits for the weights.
  const double communication = method_->updates_on_server()
                                   ? stepping
                                   : std::min(stepping, group_.counters().seconds - before);
  times.exposed += communication;
  times.optimizer += seconds - communication;
}

void Replica::ready(std::size_t parameter) {
  if (!accumulation_.add(parameter) || !sum_.add(parameter)) return;
  trace_.gradient_ready(parameter);
  const PurposeMark mark(Purpose::gradients);
  method_->ready(parameter);
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

void Replica::keep_statistics() {
  const PurposeMark mark(Purpose::batch_norm);
  statistics_.keep(group_);
}

std::vector<models::StoredTensor> Replica::state() {
  const PurposeMark mark(Purpose::checkpoints);
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
    sync::take_slice(group_, *method_, whole, kind.values);
  }
  const auto steps = rest.find(kOptimizerSteps);
  restore_steps(*optimizer_, steps == rest.end() ? nullptr : steps->second, source);
}

void Replica::average_statistics() {
  {
    const PurposeMark mark(Purpose::weights);
    method_->settle(*optimizer_);
  }
  if (norm_group_) return;
  const PurposeMark mark(Purpose::batch_norm);
  statistics_.average(group_);
}

comm::BytesByPurpose Replica::bytes_sent() const {
  const comm::BytesByPurpose bytes = group_.core()->bytes_by_purpose();
  return norm_group_ ? comm::added(bytes, norm_group_->core()->bytes_by_purpose()) : bytes;
}

engine::Score Replica::evaluate_range(const data::Loader& loader, const data::Range& range) {
  constexpr std::size_t kBatch = 250;
  data::Batch batch;
  std::vector<std::uint32_t> indices;
  engine::Score all;
  for (std::size_t begin = range.begin; begin < range.end; begin += kBatch) {
    indices.clear();
    for (std::size_t i = begin; i < std::min(begin + kBatch, range.end); ++i)
      indices.push_back(static_cast<std::uint32_t>(i));
    loader.load(indices, batch);
    const engine::Score score = engine_->evaluate(batch);
    all.loss_sum += score.loss_sum;
    all.correct += score.correct;
    all.samples += score.samples;
  }
  return all;
}

engine::Score Replica::evaluate_alone(const data::Loader& loader, std::size_t count) {
  statistics_.enter(0);
  return evaluate_range(loader, {0, count});
}

engine::Score Replica::evaluate(const data::Loader& loader, std::size_t count) {
  average_statistics();
  std::vector<double> losses;
  std::vector<double> sums(3);
  for (int shard = shards_.first; shard < shards_.first + shards_.count; ++shard) {
    const engine::Score score = evaluate_range(loader, data::slice_of(count, shard, shards_.all));
    losses.push_back(score.loss_sum);
    sums[1] += static_cast<double>(score.correct);
    sums[2] += static_cast<double>(score.samples);
  }
  sums[0] = sync::tree_sum(losses);
  const PurposeMark mark(Purpose::metrics);
  group_.all_reduce(sums, ReduceOp::sum,
                    op_ == ReduceOp::sum ? sync::tree_algorithm(group_) : Algorithm::automatic);
  return {sums[0], static_cast<std::size_t>(sums[1]), static_cast<std::size_t>(sums[2])};
}

}  // namespace lockstep::internal::train
