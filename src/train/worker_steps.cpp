// How a worker trains, step by step.
#include <lockstep/error.h>

#include "comm/flight/flight_recorder.h"
#include "train/course.h"
#include "train/while_others_wait.h"
#include "train/worker_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::train {

void Worker::catch_up(std::size_t iterations) {
  if (!start_.unfinished) return;
  const std::size_t per_epoch = feed_.batches_per_epoch();
  const std::size_t epoch = 1 + (done_ - 1) / per_epoch;
  after_step(epoch, schedule_.rate(done_ - 1) * judge_.share());
  if (done_ % per_epoch == 0 || done_ == iterations) end_epoch(epoch, true);
}

void Worker::save_checkpoint() {
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

void Worker::write_trace() {
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

void Worker::flush_records() {
  if (ledger_)
    ledger_->settle();
  else
    recorder_.flush();
}

void Worker::judge_epoch(std::size_t epoch, double rate) {
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

void Worker::add_test(double epoch, double rate) {
  if (!book_.folder()) return;
  if (const auto record = tester_.take_record(epoch, rate)) book_.folder()->add_test(*record);
}

void Worker::rebalance(const Record& record) {
  const std::optional<Division> division = balance_.after_step(record);
  if (!division) return;
  const std::size_t step = feed_.divide(*division);
  if (group_.rank() == 0)
    progress_.notice(fmt::format("from iteration {} on the workers share a batch as {}", step + 1,
                                 fmt::join(*division, " + ")));
}

std::size_t Worker::planned_iterations() const {
  return train::planned_iterations(config_, feed_.batches_per_epoch());
}

void Worker::train_epoch(std::size_t iterations) {
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

Record Worker::step(double rate) {
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

void Worker::after_step(std::size_t epoch, double rate) {
  if (const auto every = config_.control.check_every; every && done_ % *every == 0)
    replica_.require_same_weights(done_);
  if (config_.control.tests_epochs() && done_ % feed_.batches_per_epoch() == 0)
    judge_epoch(epoch, rate);
  if (config_.checkpoint_every > 0 && done_ % config_.checkpoint_every == 0) save_checkpoint();
}

void Worker::end_epoch(std::size_t epoch, bool whole) {
  flush_records();
  if (group_.rank() != 0) return;
  progress_.epoch(epoch, book_.epoch_records());
  book_.end_epoch(whole);
}

}  // namespace lockstep::train
