#include "train/checkpoint/checkpoint_saver.h"

#include <lockstep/error.h>

#include "comm/purpose.h"
#include "sync/on_rank_zero.h"

#include <fmt/format.h>

#include <utility>

namespace lockstep::internal::train {

CheckpointSaver::CheckpointSaver(Group group, const TrainConfig& config, Progress& progress)
    : group_(std::move(group)),
      progress_(progress),
      required_(config.checkpoint_errors == "stop"),
      writer_(config) {}

void CheckpointSaver::wait() {
  const comm::PurposeMark mark(comm::Purpose::checkpoints);
  sync::on_rank_zero(group_, [this] { writer_.wait(); });
  poll();
}

void CheckpointSaver::handle(const std::optional<std::string>& error) {
  if (!error) return;
  if (required_) throw FileError(*error);
  progress_.notice(fmt::format("training continues without this checkpoint: {}", *error));
}

}  // namespace lockstep::internal::train
