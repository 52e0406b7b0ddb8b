// How a worker starts, and what it leaves.
#include <lockstep/error.h>

#include "models/safetensors.h"
#include "sync/same_on_all.h"
#include "train/conclusion.h"
#include "train/convolution_choice.h"
#include "train/course.h"
#include "train/same_job.h"
#include "train/while_others_wait.h"
#include "train/worker_parts.h"

#include <fmt/format.h>

#include <utility>

namespace lockstep::train {

Worker::Worker(Group group, const TrainConfig& config, Progress& progress,
               const StopAsked& stop_asked, const Elastic* elastic)
    : group_(std::move(group)),
      progress_(progress),
      elastic_(elastic),
      dataset_(elastic && elastic->dataset ? *elastic->dataset : open_same_dataset(group_, config)),
      config_(with_convolution_choice(group_, config, dataset_.train.shape(), progress)),
      feed_(dataset_.train, {dataset_.train_size, config.batch, config.seed, config.shuffle},
            config.shards_of(group_.rank(), group_.size()), parse_mistake(config.mistake),
            config.loader_threads, config.recipe.accumulate),
      schedule_(make_schedule(config, feed_.batches_per_epoch())),
      replica_(group_, config_, dataset_.train.shape()),
      stop_vote_(group_, stop_asked),
      balance_(group_, config.batch),
      tester_(replica_, dataset_),
      judge_(config.control, tester_),
      recorder_(group_,
                [this](int rank, std::span<const Record> records) { book_.keep(rank, records); }) {
  if (group_.rank() == 0 && !config.run_dir.empty()) book_.lock(carried_so_far());
  if (carried_so_far())
    take_over(carried_so_far()->checkpoint, "what another worker has in memory");
  else if (config.resume)
    resume();
  if (!config.run_dir.empty())
    while_others_wait(group_, [this] { book_.open(start_, feed_, plan()); });
  if (group_.rank() == 0) book_.begin(group_.size());
  if (config.shards > 0 && !carried_so_far()) notice_different_arithmetic();
  machines_ = find_machines(group_);
  probe_.emplace(group_, config.method());
  // Now, so that it has the iterations and not what came before them.
  trace_.emplace(group_, replica_, config.run_dir.empty() ? 0 : config.trace);
  if (elastic_) keep_everywhere();
}

Summary Worker::run() {
  const std::size_t iterations = planned_iterations();
  if (group_.rank() == 0 && !replica_.notice().empty()) progress_.notice(replica_.notice());
  if (group_.rank() == 0) say_start(iterations);
  group_.barrier();
  catch_up(iterations);
  const double start = now_seconds();
  seconds_aside_ = 0;  // what followed an earlier start's step is no part of this one's
  const std::size_t before = done_;
  while (done_ < iterations && !stopped_ && judge_.enough().empty()) train_epoch(iterations);
  const double seconds = now_seconds() - start - seconds_aside_;
  if (stopped_ && done_ < iterations && judge_.enough().empty()) return stop(iterations);
  if (config_.checkpoint_every > 0) saver_.wait();
  Summary summary = finish(done_ - before, seconds);
  write_trace();
  // Until all is written another worker may have to do it.
  if (elastic_)
    while_others_wait(group_, [&] {
      write(summary);
      elastic_->done();
    });
  return summary;
}

Carried Worker::carry() {
  std::deque<Row> rows = ledger_->rows_until(done_);
  return {{.iteration = done_,
           .state = replica_.own_state(),
           .arithmetic = arithmetic(),
           .notes = notes_,
           .unfinished = start_.unfinished || !rows.empty()},
          std::move(rows)};
}

const Carried* Worker::carried_so_far() const {
  return elastic_ && elastic_->carried ? &*elastic_->carried : nullptr;
}

std::deque<Row> Worker::rows_so_far() const {
  return carried_so_far() ? carried_so_far()->rows : std::deque<Row>();
}

void Worker::take_over(const Checkpoint& checkpoint, const std::string& source) {
  replica_.restore(checkpoint.state, source);
  judge_.restore(checkpoint.notes);
  done_ = checkpoint.iteration;
  start_ = {done_, checkpoint.unfinished, carried_so_far() != nullptr, rows_so_far()};
  feed_.skip(done_);
  const std::string changed =
      config_.shards > 0 ? differences_on_ranks(group_, checkpoint.arithmetic, arithmetic(),
                                                elastic_ ? elastic_->members : std::vector<int>{})
                         : "";
  if (group_.rank() == 0 && !changed.empty())
    progress_.notice(fmt::format(
        "going on with another arithmetic than {} was made with, so that the last bits of the "
        "results may differ from those of a run that never stopped: {}",
        source, changed));
}

void Worker::notice_different_arithmetic() {
  std::vector<std::string> lines;
  for (const auto& [name, value] : arithmetic()) lines.push_back(fmt::format("{} {}", name, value));
  const std::string difference = sync::difference_between_ranks(group_, lines);
  if (group_.rank() == 0 && !difference.empty())
    progress_.notice(
        fmt::format("the ranks do not compute alike, so that the last bits of the results may "
                    "differ from those "
                    "on another number of workers: {}",
                    difference));
}

void Worker::keep_everywhere() {
  replica_.keep_statistics();
  notes_ = judge_.notes();
  ledger_.emplace(
      group_, [this](int rank, std::span<const Record> records) { book_.keep(rank, records); },
      rows_so_far());
}

void Worker::say_start(std::size_t iterations) {
  if (elastic_ && !elastic_->change.empty())
    progress_.notice(fmt::format("{}: going on after iteration {} with {} worker{}",
                                 elastic_->change, done_, group_.size(),
                                 group_.size() == 1 ? "" : "s"));
  TrainConfig now = config_;
  now.workers = group_.size();
  now.transport = group_.transport();
  progress_.started(now, iterations, dataset_.train_size);
}

void Worker::resume() {
  const Checkpoint checkpoint = share_checkpoint(group_, config_, planned_iterations());
  const std::size_t planned = planned_iterations();
  const bool more =
      checkpoint.iteration < planned || (checkpoint.iteration == planned && checkpoint.unfinished);
  if (!more)
    throw UsageError(
        fmt::format("{} has {} iterations, all that were asked for: there is nothing to resume",
                    checkpoint.file.string(), checkpoint.iteration));
  // Where a run goes on matters to its user only if it is not where it ended.
  if (!checkpoint.passed_over.empty())
    progress_.notice(fmt::format("going on from {}, because of newer ones: {}",
                                 checkpoint.file.string(), checkpoint.passed_over));
  take_over(checkpoint, checkpoint.file.string());
}

RunFolder::Plan Worker::plan() const {
  RunFolder::Plan plan{.iterations = planned_iterations(), .arithmetic = arithmetic()};
  for (const sync::Parameter& parameter : replica_.engine().parameters()) {
    plan.parameters += 1;
    plan.gradient_bytes += parameter.count * size_of(config_.type());
  }
  return plan;
}

Summary Worker::stop(std::size_t iterations) {
  if (config_.run_dir.empty())
    throw StoppedError(fmt::format("stopped after iteration {} of {}", done_, iterations));
  saver_.wait();
  saver_.need_all();
  save_checkpoint();
  saver_.wait();
  const std::filesystem::path& file = saver_.newest();
  write_trace();
  if (group_.rank() != 0) return {};
  throw StoppedError(
      fmt::format("stopped after iteration {} of {}: {} has all that was learnt. Give the same "
                  "command again with --resume --run-dir {} to go on",
                  done_, iterations, file.string(), config_.run_dir.string()));
}

Summary Worker::finish(std::size_t steps, double seconds) {
  tester_.test(done_);
  if (group_.rank() == 0 && steps == 0) {  // all of them were done before this start
    book_.recall_last_step(start_, feed_.images_of(done_ - 1));
    steps = 1;
    seconds = book_.records()[0].back().times.total;
  }
  Summary summary = conclude(group_, {.config = config_,
                                      .replica = replica_,
                                      .feed = feed_,
                                      .tester = tester_,
                                      .machines = machines_,
                                      .iterations = done_,
                                      .steps = steps,
                                      .seconds = seconds,
                                      .latency = probe_->seconds(),
                                      .records = book_.records(),
                                      .epoch_records = book_.epoch_records()});
  if (group_.rank() != 0) return {};
  if (done_ < planned_iterations()) summary.stopped = judge_.enough();
  if (!elastic_) write(summary);
  return summary;
}

void Worker::write(const Summary& summary) {
  if (!config_.save.empty()) models::write_safetensors(config_.save, replica_.model_state());
  if (RunFolder* folder = book_.folder()) {
    const Record& last = book_.records()[0].back();
    add_test(last.epoch, last.lr);
    folder->finish(summary);
  }
}

}  // namespace lockstep::train
