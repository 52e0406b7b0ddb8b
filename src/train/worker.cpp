#include "train/worker.h"

#include <lockstep/error.h>

#include "base/deadline.h"
#include "models/safetensors.h"
#include "sync/on_rank_zero.h"
#include "sync/same_on_all.h"
#include "train/config/same_job.h"
#include "train/config/training_length.h"
#include "train/convolution_choice.h"
#include "train/deliberate_faults.h"
#include "train/replica_parts.h"
#include "train/summary_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockstep::internal::train {

namespace {

Feed make_feed(const Group& group, const TrainConfig& config, const Dataset& dataset) {
  const DeliberateFaults faults(config, group);
  const data::SamplerOptions sampling{.count = dataset.train_size,
                                      .batch = config.batch,
                                      .seed = config.seed,
                                      .shuffle = config.shuffle,
                                      .parts = config.split == "array" ? group.size() : 0};
  return Feed(dataset.train, faults.sampling(sampling),
              faults.shards(config.shards_of(group.rank(), group.size())), config.loader_threads,
              config.recipe.accumulate);
}

}  // namespace

Worker::Worker(Group group, const engine::Engines& engines, const TrainConfig& config,
               Progress& progress, const StopAsked& stop_asked, const ElasticMember* elastic)
    : group_(std::move(group)),
      engines_(engines),
      progress_(progress),
      elastic_(elastic),
      dataset_(elastic && elastic->dataset ? *elastic->dataset : open_same_dataset(group_, config)),
      config_(with_convolution_choice(group_, engines, config, dataset_.train.shape(), progress)),
      feed_(make_feed(group_, config, dataset_)),
      schedule_(make_schedule(config, feed_.batches_per_epoch())),
      replica_(group_, replica_parts(group_, config_, dataset_.train.shape(), engines)),
      stop_vote_(group_, stop_asked),
      balance_(group_, config.batch),
      tester_(replica_, dataset_, config.test_per_rank),
      epoch_policy_(config.policy, tester_),
      clock_(group_),
      gatherer_(group_, config.staleness.value_or(0),
                [this](int rank, std::span<const run::Record> records) {
                  history_.keep(rank, records);
                }) {
  if (group_.rank() == 0 && !config.run_dir.empty()) history_.lock(initial_state());
  if (initial_state())
    restore(initial_state()->checkpoint, kRunStateSource);
  else if (config.resume)
    resume();
  if (!config.run_dir.empty())
    sync::on_rank_zero(group_, [this] { history_.open(start_, feed_, plan()); });
  if (group_.rank() == 0) history_.begin(group_.size());
  if (config.shards > 0 && !initial_state()) report_numeric_differences();
  machines_ = find_machines(group_);
  probe_.emplace(group_, config.method());
  // Last, so that it records iterations and not the set-up before them.
  trace_.emplace(group_, replica_, config.run_dir.empty() ? 0 : config.trace);
  if (elastic_) start_replication();
}

run::Summary Worker::run() {
  const std::size_t iterations = planned_iterations();
  if (group_.rank() == 0 && !replica_.notice().empty()) progress_.notice(replica_.notice());
  if (group_.rank() == 0) report_start(iterations);
  group_.barrier();
  finish_last_step(iterations);
  const double start = now_seconds();
  seconds_aside_ = 0;  // work after the step of an earlier start does not count
  const std::size_t before = done_;
  while (done_ < iterations && !stopped_ && epoch_policy_.stop_reason().empty())
    train_epoch(iterations);
  const double seconds = now_seconds() - start - seconds_aside_;
  if (stopped_ && done_ < iterations && epoch_policy_.stop_reason().empty())
    return stop(iterations);
  if (config_.checkpoint_every > 0) saver_.wait();
  run::Summary summary = finish(done_ - before, seconds);
  write_trace();
  // If rank 0 is lost before all is written, another worker writes it.
  if (elastic_)
    sync::on_rank_zero(group_, [&] {
      write(summary);
      elastic_->results_written();
    });
  return summary;
}

RunState Worker::state() {
  std::deque<Row> rows = replicated_->rows_until(done_);
  return {{.iteration = done_,
           .state = replica_.own_state(),
           .numeric_environment = numeric_environment(),
           .policy_state = policy_state_,
           .unfinished = start_.unfinished || !rows.empty()},
          std::move(rows)};
}

models::Metadata Worker::numeric_environment() const {
  return numeric_environment_of(config_, replica_.engine(), engines_.library_versions());
}

const RunState* Worker::initial_state() const {
  return elastic_ && elastic_->state ? &*elastic_->state : nullptr;
}

std::deque<Row> Worker::initial_rows() const {
  return initial_state() ? initial_state()->rows : std::deque<Row>();
}

void Worker::restore(const Checkpoint& checkpoint, const std::string& source) {
  replica_.restore(checkpoint.state, source);
  epoch_policy_.restore(checkpoint.policy_state);
  done_ = checkpoint.iteration;
  start_ = {done_, checkpoint.unfinished, initial_state() != nullptr, initial_rows()};
  feed_.skip(done_);
  const std::string changed =
      config_.shards > 0
          ? differences_on_ranks(group_, checkpoint.numeric_environment, numeric_environment(),
                                 elastic_ ? elastic_->workers : std::vector<int>{})
          : "";
  if (group_.rank() == 0 && !changed.empty())
    progress_.notice(fmt::format(
        "the numeric environment differs from that of {}, so the last bits of the results may "
        "differ from those of an uninterrupted run: {}",
        source, changed));
}

void Worker::report_numeric_differences() {
  std::vector<std::string> lines;
  for (const auto& [name, value] : numeric_environment())
    lines.push_back(fmt::format("{} {}", name, value));
  const std::string difference = sync::difference_between_ranks(group_, lines);
  if (group_.rank() == 0 && !difference.empty())
    progress_.notice(
        fmt::format("the ranks have different numeric environments, so the last bits of the "
                    "results may differ from those on another number of workers: {}",
                    difference));
}

void Worker::start_replication() {
  replica_.keep_statistics();
  policy_state_ = epoch_policy_.state();
  replicated_.emplace(
      group_,
      [this](int rank, std::span<const run::Record> records) { history_.keep(rank, records); },
      initial_rows());
}

void Worker::report_start(std::size_t iterations) {
  if (elastic_ && !elastic_->change.empty())
    progress_.notice(fmt::format("{}: continuing after iteration {} with {} worker{}",
                                 elastic_->change, done_, group_.size(),
                                 group_.size() == 1 ? "" : "s"));
  TrainConfig now = config_;
  now.workers = group_.size();
  now.transport = group_.transport();
  progress_.started(now, iterations, dataset_.train_size);
}

void Worker::resume() {
  const Checkpoint checkpoint = broadcast_checkpoint(group_, config_, planned_iterations());
  const std::size_t planned = planned_iterations();
  const bool more =
      checkpoint.iteration < planned || (checkpoint.iteration == planned && checkpoint.unfinished);
  if (!more)
    throw UsageError(fmt::format("{} has all {} iterations of the run: there is nothing to resume",
                                 checkpoint.file.string(), checkpoint.iteration));
  // The user is told only if the run does not resume from its newest checkpoint.
  if (!checkpoint.passed_over.empty())
    progress_.notice(fmt::format("resuming from {} instead of a newer checkpoint: {}",
                                 checkpoint.file.string(), checkpoint.passed_over));
  restore(checkpoint, checkpoint.file.string());
}

RunPlan Worker::plan() const {
  RunPlan plan{.iterations = planned_iterations(), .numeric_environment = numeric_environment()};
  for (const sync::Parameter& parameter : replica_.engine().parameters()) {
    plan.parameters += 1;
    plan.gradient_bytes += parameter.count * size_of(config_.type());
  }
  return plan;
}

void Worker::finish_last_step(std::size_t iterations) {
  if (!start_.unfinished) return;
  const std::size_t per_epoch = feed_.batches_per_epoch();
  const std::size_t epoch = 1 + (done_ - 1) / per_epoch;
  after_step(epoch, schedule_.rate(done_ - 1) * epoch_policy_.rate_factor());
  if (done_ % per_epoch == 0 || done_ == iterations) end_epoch(epoch, true);
}

void Worker::save_checkpoint() {
  if (done_ == planned_iterations()) {  // methods that let weights differ average them below
    const double start = now_seconds();
    tester_.test_own(done_);
    seconds_aside_ += now_seconds() - start;
  }
  saver_.wait();
  flush_records();
  Checkpoint checkpoint{.iteration = done_,
                        .state = replica_.state(),
                        .numeric_environment = numeric_environment(),
                        .policy_state = epoch_policy_.state()};
  if (group_.rank() != 0) return;
  try {
    // A run that resumes from this checkpoint needs the records up to it.
    if (history_.folder()) history_.folder()->flush();
    saver_.start(std::move(checkpoint));
  } catch (const FileError& error) {
    saver_.handle(error.what());
  }
}

void Worker::write_trace() {
  if (!trace_->uncollected()) return;
  const double start = now_seconds();
  const std::string trace = trace_->collect();
  std::string problem;
  sync::on_rank_zero(group_, [&] {
    try {
      history_.folder()->write_trace(trace);
    } catch (const FileError& error) {
      problem = error.what();
    }
  });
  if (!problem.empty()) progress_.notice(fmt::format("the trace was not written: {}", problem));
  seconds_aside_ += now_seconds() - start;
}

void Worker::flush_records() {
  if (replicated_)
    replicated_->flush();
  else
    gatherer_.flush();
}

void Worker::apply_epoch_policy(std::size_t epoch, double rate) {
  const double start = now_seconds();
  const bool lower = epoch_policy_.after_epoch(epoch, done_);
  flush_records();  // the test comes after its iterations
  if (group_.rank() == 0) progress_.tested(epoch, tester_.results());
  record_test(static_cast<double>(epoch), rate);
  const bool continues = epoch_policy_.stop_reason().empty() && done_ < planned_iterations();
  if (lower && continues && group_.rank() == 0)
    progress_.notice(fmt::format(
        "after epoch {} the test loss stopped improving: the learning rate is now {:.6g}", epoch,
        learning_rate()));
  seconds_aside_ += now_seconds() - start;
}

void Worker::record_test(double epoch, double rate) {
  if (!history_.folder()) return;
  if (const auto record = tester_.take_record(epoch, rate)) history_.folder()->add_test(*record);
}

void Worker::rebalance(const run::Record& record) {
  const std::optional<BatchSplit> split = balance_.after_step(record);
  if (!split) return;
  const std::size_t step = feed_.set_split(*split);
  if (group_.rank() == 0)
    progress_.notice(fmt::format("from iteration {} on the workers split a batch as {}", step + 1,
                                 fmt::join(*split, " + ")));
}

std::size_t Worker::planned_iterations() const {
  return train::planned_iterations(config_, feed_.batches_per_epoch());
}

void Worker::train_epoch(std::size_t iterations) {
  const std::size_t epoch = 1 + done_ / feed_.batches_per_epoch();
  const std::size_t end = std::min(iterations, epoch * feed_.batches_per_epoch());
  if (done_ % feed_.batches_per_epoch() == 0) history_.begin_epoch();
  while (done_ < end && !stopped_) {
    const double rate = learning_rate();
    replica_.set_learning_rate(rate);
    const run::Record record = step(rate);
    if (!replicated_) gatherer_.add(record);
    clock_.after_step(record.times.total);
    if (group_.rank() == 0)
      progress_.iteration(done_, iterations, record.loss_sum / std::max(1.0, record.samples),
                          record.times.total);
    if (worker_waiting_) throw RegroupError("a worker is to join");
    if (!trace_->recording()) probe_->after_iteration(done_);
    saver_.poll();
    if (config_.policy.balance) rebalance(record);
    after_step(epoch, rate);
    stopped_ = stop_vote_.after_step(record.times.total);
  }
  end_epoch(epoch, done_ == end);
}

run::Record Worker::step(double rate) {
  const auto replicate = [&](const run::Record& begun) {
    run::Record mine = begun;
    mine.arrived = clock_.at(begun.arrived);
    mine.iteration = static_cast<double>(done_ + 1);
    mine.lr = rate;
    const observe::Times& times = mine.times;
    mine.times.total = times.data + times.forward + times.backward + times.exposed;
    worker_waiting_ = replicated_->exchange(mine, group_.rank() == 0 && elastic_->worker_waiting());
    replica_.keep_statistics();
  };
  run::Record record = replicated_ ? replica_.step(feed_, replicate) : replica_.step(feed_);
  record.iteration = static_cast<double>(++done_);
  record.arrived = clock_.at(record.arrived);
  record.lr = rate;
  if (replicated_) {
    replicated_->complete(record);
    policy_state_ = epoch_policy_.state();
  }
  if (trace_->iteration_ended()) write_trace();
  return record;
}

void Worker::after_step(std::size_t epoch, double rate) {
  if (const auto every = config_.policy.check_every; every && done_ % *every == 0)
    replica_.require_same_weights(done_);
  if (config_.policy.tests_epochs() && done_ % feed_.batches_per_epoch() == 0)
    apply_epoch_policy(epoch, rate);
  if (config_.checkpoint_every > 0 && done_ % config_.checkpoint_every == 0) save_checkpoint();
}

void Worker::end_epoch(std::size_t epoch, bool whole) {
  flush_records();
  if (group_.rank() != 0) return;
  progress_.epoch(epoch, history_.epoch_records());
  history_.end_epoch(whole);
}

run::Summary Worker::stop(std::size_t iterations) {
  if (config_.run_dir.empty())
    throw StoppedError(fmt::format("stopped after iteration {} of {}", done_, iterations));
  saver_.wait();
  saver_.require_all();
  save_checkpoint();
  saver_.wait();
  const std::filesystem::path& file = saver_.newest();
  write_trace();
  if (group_.rank() != 0) return {};
  throw StoppedError(
      fmt::format("stopped after iteration {} of {}: the state is saved in {}. To resume, "
                  "give the same command again with --resume --run-dir {}",
                  done_, iterations, file.string(), config_.run_dir.string()));
}

run::Summary Worker::finish(std::size_t steps, double seconds) {
  tester_.test(done_);
  if (group_.rank() == 0 && steps == 0) {  // an earlier start did all of them
    history_.recall_last_step(start_, feed_.images_of(done_ - 1));
    steps = 1;
    seconds = history_.records()[0].back().times.total;
  }
  run::Summary summary = build_summary(group_, {.config = config_,
                                                .replica = replica_,
                                                .feed = feed_,
                                                .tester = tester_,
                                                .machines = machines_,
                                                .iterations = done_,
                                                .steps = steps,
                                                .seconds = seconds,
                                                .latency = probe_->seconds(),
                                                .classes = dataset_.train_images->classes,
                                                .records = history_.records(),
                                                .epoch_records = history_.epoch_records(),
                                                .epochs = history_.epochs()});
  if (group_.rank() != 0) return {};
  if (done_ < planned_iterations()) summary.stopped = epoch_policy_.stop_reason();
  if (!elastic_) write(summary);
  return summary;
}

void Worker::write(const run::Summary& summary) {
  if (!config_.save.empty()) models::write_safetensors(config_.save, replica_.model_state());
  if (run::RunFolder* folder = history_.folder()) {
    const run::Record& last = history_.records()[0].back();
    record_test(last.epoch, last.lr);
    folder->finish(summary);
  }
}

}  // namespace lockstep::internal::train
