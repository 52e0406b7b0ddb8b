#include "train/worker.h"

#include <lockstep/error.h>

#include "base/blas.h"
#include "comm/flight/flight_recorder.h"
#include "engine/torch/torch_engine.h"
#include "models/safetensors.h"
#include "train/arithmetic.h"
#include "train/balance.h"
#include "train/checkpoint.h"
#include "train/checkpoint_saver.h"
#include "train/conclusion.h"
#include "train/convolution_choice.h"
#include "train/course.h"
#include "train/dataset.h"
#include "train/elastic.h"
#include "train/epoch_judge.h"
#include "train/feed.h"
#include "train/latency_probe.h"
#include "train/replica.h"
#include "train/run_book.h"
#include "train/run_trace.h"
#include "train/stop_vote.h"
#include "train/tester.h"
#include "train/while_others_wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace lockstep::train {

namespace {

/// Others may not see the folder. A collective.
bool rank_zero_has_checkpoints(Group& group, const std::filesystem::path& run_dir) {
  std::vector<std::uint8_t> has{0};
  if (group.rank() == 0) has[0] = has_checkpoints(run_dir) ? 1 : 0;
  group.broadcast(has);
  return has[0] != 0;
}

class Worker {
 public:
  Worker(Group group, const TrainConfig& config, Progress& progress, const StopAsked& stop_asked,
         const Elastic* elastic)
      : group_(std::move(group)),
        progress_(progress),
        elastic_(elastic),
        dataset_(open_dataset(config)),
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
        recorder_(group_, [this](int rank, std::span<const Record> records) {
          book_.keep(rank, records);
        }) {
    if (group_.rank() == 0 && !config.run_dir.empty()) book_.lock(carried_so_far());
    if (carried_so_far())
      take_over(carried_so_far()->checkpoint, "what another worker has in memory");
    else if (config.resume)
      resume();
    if (!config.run_dir.empty())
      while_others_wait(group_, [this] { book_.open(start_, feed_, plan()); });
    if (group_.rank() == 0) book_.begin(group_.size());
    machines_ = find_machines(group_);
    probe_.emplace(group_, config.method());
    // Now, so that it has the iterations and not what came before them.
    trace_.emplace(group_, replica_, config.run_dir.empty() ? 0 : config.trace);
    if (elastic_) keep_everywhere();
  }

  Summary run() {
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

  /// What this rank knows. REQUIRES: the run is elastic. No collective: others may be gone.
  Carried carry() {
    std::deque<Row> rows = ledger_->rows_until(done_);
    return {{.iteration = done_,
             .state = replica_.own_state(),
             .arithmetic = arithmetic(),
             .notes = notes_,
             .unfinished = start_.unfinished || !rows.empty()},
            std::move(rows)};
  }

 private:
  /// From the group before; null if there was none.
  const Carried* carried_so_far() const {
    return elastic_ && elastic_->carried ? &*elastic_->carried : nullptr;
  }
  /// Its newest iterations, which may not be recorded yet.
  std::deque<Row> rows_so_far() const {
    return carried_so_far() ? carried_so_far()->rows : std::deque<Row>();
  }

  /// Goes on from a state that messages call `source`. A collective.
  void take_over(const Checkpoint& checkpoint, const std::string& source) {
    replica_.restore(checkpoint.state, source);
    judge_.restore(checkpoint.notes);
    done_ = checkpoint.iteration;
    start_ = {done_, checkpoint.unfinished, carried_so_far() != nullptr, rows_so_far()};
    feed_.skip(done_);
    const std::string changed =
        config_.shards > 0 ? differences_on_ranks(group_, checkpoint.arithmetic, arithmetic()) : "";
    if (group_.rank() == 0 && !changed.empty())
      progress_.notice(fmt::format(
          "going on with another arithmetic than {} was made with, so that the last bits of the "
          "results may differ from those of a run that never stopped: {}",
          source, changed));
  }

  /// From now on every rank could go on alone. A collective.
  void keep_everywhere() {
    replica_.keep_statistics();
    notes_ = judge_.notes();
    ledger_.emplace(
        group_, [this](int rank, std::span<const Record> records) { book_.keep(rank, records); },
        rows_so_far());
  }

  /// On rank 0.
  void say_start(std::size_t iterations) {
    if (elastic_ && !elastic_->change.empty())
      progress_.notice(fmt::format("{}: going on after iteration {} with {} worker{}",
                                   elastic_->change, done_, group_.size(),
                                   group_.size() == 1 ? "" : "s"));
    TrainConfig now = config_;
    now.workers = group_.size();
    now.transport = group_.transport();
    progress_.started(now, iterations, dataset_.train_size);
  }

  /// What follows the newest step of the group before: some ranks may have done it, none more.
  void catch_up(std::size_t iterations) {
    if (!start_.unfinished) return;
    const std::size_t per_epoch = feed_.batches_per_epoch();
    const std::size_t epoch = 1 + (done_ - 1) / per_epoch;
    after_step(epoch, schedule_.rate(done_ - 1) * judge_.share());
    if (done_ % per_epoch == 0 || done_ == iterations) end_epoch(epoch, true);
  }

  void resume() {
    const Checkpoint checkpoint = share_checkpoint(group_, config_, planned_iterations());
    if (checkpoint.iteration >= planned_iterations() && !checkpoint.unfinished)
      throw UsageError(
          fmt::format("{} has {} iterations, all that were asked for: there is nothing to resume",
                      checkpoint.file.string(), checkpoint.iteration));
    // Where a run goes on matters to its user only if it is not where it ended.
    if (!checkpoint.passed_over.empty())
      progress_.notice(fmt::format("going on from {}, because of newer ones: {}",
                                   checkpoint.file.string(), checkpoint.passed_over));
    take_over(checkpoint, checkpoint.file.string());
  }

  RunFolder::Plan plan() const {
    RunFolder::Plan plan{.iterations = planned_iterations(), .arithmetic = arithmetic()};
    for (const sync::Parameter& parameter : replica_.engine().parameters()) {
      plan.parameters += 1;
      plan.gradient_bytes += parameter.count * size_of(config_.type());
    }
    return plan;
  }

  models::Metadata arithmetic() const { return arithmetic_of(config_, replica_.engine()); }

  /// A collective; rank 0 writes, and goes on meanwhile.
  void save_checkpoint() {
    saver_.wait();
    flush_records();
    Checkpoint checkpoint{.iteration = done_,
                          .state = replica_.state(),
                          .arithmetic = arithmetic(),
                          .notes = judge_.notes()};
    if (group_.rank() != 0) return;
    try {
      // A run that goes on from here needs what was measured so far.
      if (book_.folder()) book_.folder()->flush();
      saver_.start(std::move(checkpoint));
    } catch (const FileError& error) {
      saver_.heed(error.what());
    }
  }

  /// If there is one to write and it was not written yet. What was learnt is worth more: that it
  /// cannot be written ends no run. A collective.
  void write_trace() {
    if (!trace_->uncollected()) return;
    const double start = now_seconds();
    const std::string trace = trace_->collect();
    std::string problem;
    while_others_wait(group_, [&] {
      try {
        book_.folder()->write_trace(trace);
      } catch (const FileError& error) {
        problem = error.what();
      }
    });
    if (!problem.empty()) progress_.notice(fmt::format("there is no trace: {}", problem));
    seconds_aside_ += now_seconds() - start;
  }

  /// To rank 0. A collective.
  void flush_records() {
    if (ledger_)
      ledger_->settle();
    else
      recorder_.flush();
  }

  /// Whether it is enough, and how fast to go on. A collective, at the end of an epoch.
  void judge_epoch(std::size_t epoch, double rate) {
    const double start = now_seconds();
    const bool lower = judge_.after_epoch(epoch, done_);
    flush_records();  // the test comes after its iterations
    if (group_.rank() == 0) progress_.tested(epoch, tester_.loss(), tester_.accuracy());
    add_test(static_cast<double>(epoch), rate);
    const bool goes_on = judge_.enough().empty() && done_ < planned_iterations();
    if (lower && goes_on && group_.rank() == 0)
      progress_.notice(fmt::format(
          "after epoch {} the test loss falls no more: from now on the learning rate is {:.6g}",
          epoch, learning_rate()));
    seconds_aside_ += now_seconds() - start;
  }

  void add_test(double epoch, double rate) {
    if (!book_.folder()) return;
    if (const auto record = tester_.take_record(epoch, rate)) book_.folder()->add_test(*record);
  }

  /// A collective now and then.
  void rebalance(const Record& record) {
    const std::optional<Division> division = balance_.after_step(record);
    if (!division) return;
    const std::size_t step = feed_.divide(*division);
    if (group_.rank() == 0)
      progress_.notice(fmt::format("from iteration {} on the workers share a batch as {}", step + 1,
                                   fmt::join(*division, " + ")));
  }

  Summary stop(std::size_t iterations) {
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

  /// Of the next step.
  double learning_rate() const { return schedule_.rate(done_) * judge_.share(); }

  std::size_t planned_iterations() const {
    return train::planned_iterations(config_, feed_.batches_per_epoch());
  }

  /// To the end of the epoch, of the run, or until it is stopped.
  void train_epoch(std::size_t iterations) {
    const std::size_t epoch = 1 + done_ / feed_.batches_per_epoch();
    const std::size_t end = std::min(iterations, epoch * feed_.batches_per_epoch());
    if (done_ % feed_.batches_per_epoch() == 0) book_.begin_epoch();
    while (done_ < end && !stopped_) {
      const double rate = learning_rate();
      replica_.set_learning_rate(rate);
      comm::note_step(done_ + 1);
      const Record record = step(rate);
      if (!ledger_) recorder_.add(record);
      if (group_.rank() == 0)
        progress_.iteration(done_, iterations, record.loss_sum / std::max(1.0, record.samples),
                            record.times.total);
      if (someone_waits_) throw RegroupError("someone is to join");
      if (!trace_->recording()) probe_->after_iteration(done_);
      saver_.look();
      if (config_.control.balance) rebalance(record);
      after_step(epoch, rate);
      stopped_ = stop_vote_.after_step(record.times.total);
    }
    end_epoch(epoch, done_ == end);
  }

  /// A collective.
  Record step(double rate) {
    const auto agree = [&](const Record& begun) {
      Record mine = begun;
      mine.iteration = static_cast<double>(done_ + 1);
      mine.lr = rate;
      const observe::Times& times = mine.times;
      mine.times.total = times.data + times.forward + times.backward + times.exposed;
      someone_waits_ = ledger_->agree(mine, group_.rank() == 0 && elastic_->someone_waits());
      replica_.keep_statistics();
    };
    Record record = ledger_ ? replica_.step(feed_, agree) : replica_.step(feed_);
    record.iteration = static_cast<double>(++done_);
    record.lr = rate;
    if (ledger_) {
      ledger_->complete(record);
      notes_ = judge_.notes();
    }
    if (trace_->iteration_ended()) write_trace();
    return record;
  }

  /// What is due after some steps. A collective.
  void after_step(std::size_t epoch, double rate) {
    if (const auto every = config_.control.check_every; every && done_ % *every == 0)
      replica_.require_same_weights(done_);
    if (config_.control.tests_epochs() && done_ % feed_.batches_per_epoch() == 0)
      judge_epoch(epoch, rate);
    if (config_.checkpoint_every > 0 && done_ % config_.checkpoint_every == 0) save_checkpoint();
  }

  /// An epoch has come to its end, or the run has within it. A collective.
  void end_epoch(std::size_t epoch, bool whole) {
    flush_records();
    if (group_.rank() != 0) return;
    progress_.epoch(epoch, book_.epoch_records());
    book_.end_epoch(whole);
  }

  Summary finish(std::size_t steps, double seconds) {
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

  void write(const Summary& summary) {
    if (!config_.save.empty()) models::write_safetensors(config_.save, replica_.model_state());
    if (RunFolder* folder = book_.folder()) {
      const Record& last = book_.records()[0].back();
      add_test(last.epoch, last.lr);
      folder->finish(summary);
    }
  }

  Group group_;
  Progress& progress_;
  const Elastic* const elastic_;  ///< null for a run that ends with any of its workers
  Dataset dataset_;
  const TrainConfig config_;
  Feed feed_;
  const optim::Schedule schedule_;
  Replica replica_;
  std::optional<RunTrace> trace_;
  std::size_t done_ = 0;  ///< iterations
  Position start_;
  StopVote stop_vote_;
  bool stopped_ = false;
  Balance balance_;
  Tester tester_;
  EpochJudge judge_;
  Machines machines_;
  std::optional<LatencyProbe> probe_;
  double seconds_aside_ = 0;  ///< of writing the trace, and of tests: no part of training

  Recorder recorder_;
  std::optional<Ledger> ledger_;                       ///< in its place, of an elastic run
  models::Metadata notes_;                             ///< the judge's right after the newest step
  bool someone_waits_ = false;                         ///< to be let in
  RunBook book_{config_};                              ///< on rank 0
  CheckpointSaver saver_{group_, config_, progress_};  ///< ends before the book's lock does
};

}  // namespace

Summary train_worker(Group group, const TrainConfig& config, Progress& progress,
                     const StopAsked& stop_asked, Elastic* elastic) {
  config.validate();
  use_fast_blas_kernels();
  engine::use_threads(config.threads_per_worker());
  engine::keep_freed_memory();
  TrainConfig mine = config;
  // Who was let in was not started again; but then all know what to go on from.
  if (config.restarted && !(elastic && elastic->carried))
    mine.resume = rank_zero_has_checkpoints(group, config.run_dir);
  Worker worker(std::move(group), mine, progress, stop_asked, elastic);
  if (!elastic) return worker.run();
  try {
    return worker.run();
  } catch (...) {
    elastic->carried = worker.carry();
    elastic->trained = true;
    throw;
  }
}

}  // namespace lockstep::train
