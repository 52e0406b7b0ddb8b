#include "train/run_history.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "comm/flight/flight_recorder.h"
#include "run/checkpoint_files.h"
#include "train/checkpoint/checkpoint.h"
#include "train/config/provenance.h"
#include "train/summary_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace lockstep::internal::train {

namespace {

nlohmann::json config_file(const TrainConfig& config, const RunPlan& plan) {
  nlohmann::json json = to_json(config);
  json.update(provenance_json(config.command));
  json.update({{"sync", sync::parse_method(config.sync, config.algorithm).method},
               {"planned_iterations", plan.iterations},
               {"parameters", plan.parameters},
               {"gradient_bytes", plan.gradient_bytes}});
  if (!plan.numeric_environment.empty()) json["arithmetic"] = plan.numeric_environment;
  return json;
}

}  // namespace

void RunHistory::lock(bool continues) {
  if (!config_.resume) make_folder(config_.run_dir);
  try {
    lock_.emplace(run::lock_run_folder(config_.run_dir));
  } catch (const FileError&) {
    if (!continues) throw;
  }
  comm::note_folder(config_.run_dir);
}

void RunHistory::open(const Position& at, const Feed& feed, const RunPlan& plan) {
  if (!config_.resume && !at.in_memory) require_no_checkpoints(config_.run_dir);
  const std::size_t whole = at.unfinished ? at.done - 1 : at.done;
  const std::size_t epochs = whole / feed.batches_per_epoch();
  run::RunFolder::Done done{at.done, epochs};
  if (at.unfinished) done.again = at.done + 1;
  if (!at.rows.empty()) done.again = static_cast<std::size_t>(at.rows.front().front().iteration);
  folder_.emplace(config_.run_dir, config_file(config_, plan), done);
  // Checkpoints after a resumed position are another run's; after a state in memory, this run's.
  if (lock_)
    run::remove_left_over(config_.run_dir,
                          at.in_memory ? std::numeric_limits<std::size_t>::max() : at.done);
  for (const Row& row : at.rows)
    for (std::size_t rank = 0; rank < row.size(); ++rank)
      folder_->add_iterations(static_cast<int>(rank), std::span(row).subspan(rank, 1));
  epochs_ = folder_->read_epochs();
  const std::size_t before = epochs * feed.batches_per_epoch();
  if (at.done > before)
    epoch_records_ =
        folder_->read_iterations(before + 1, at.done, config_.batch, feed.images_of(at.done - 1));
}

void RunHistory::begin(int ranks) {
  records_.resize(static_cast<std::size_t>(ranks));
  epoch_records_.resize(std::max(records_.size(), epoch_records_.size()));
}

void RunHistory::keep(int rank, std::span<const run::Record> records) {
  const auto index = static_cast<std::size_t>(rank);
  for (auto* all : {&epoch_records_[index], &records_[index]})
    all->insert(all->end(), records.begin(), records.end());
  if (folder_) folder_->add_iterations(rank, records);
}

void RunHistory::end_epoch(bool whole) {
  if (!whole) return;
  const double loss_sum = loss_sum_of(epoch_records_);
  for (std::size_t rank = 0; rank < epoch_records_.size(); ++rank) {
    const std::vector<run::Record>& its = epoch_records_[rank];
    if (its.empty()) continue;
    const run::Record sum = run::sum_of(its);
    epochs_.add(static_cast<int>(rank), sum);
    epochs_.set_loss_sum(static_cast<std::size_t>(sum.epoch), loss_sum);
    if (folder_) folder_->add_epoch(static_cast<int>(rank), sum);
  }
}

void RunHistory::recall_last_step(const Position& at, std::size_t images) {
  Row row;
  if (!at.rows.empty()) {
    row = at.rows.back();
  } else if (folder_) {
    for (const auto& its : folder_->read_iterations(at.done, at.done, images, images))
      if (!its.empty()) row.push_back(its.back());
  }
  if (row.empty())
    throw FileError(fmt::format(
        "{}: it does not have iteration {}, which the results need: start a new run in another "
        "--run-dir",
        (config_.run_dir / "metrics.jsonl").string(), at.done));
  for (std::size_t rank = 0; rank < records_.size(); ++rank)
    records_[rank] = {row[std::min(rank, row.size() - 1)]};
}

}  // namespace lockstep::internal::train
