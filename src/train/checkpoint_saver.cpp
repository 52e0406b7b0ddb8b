#include "train/checkpoint_saver.h"

#include <lockstep/error.h>

#include "train/while_others_wait.h"

#include <fmt/format.h>

#include <utility>

namespace lockstep::train {

CheckpointSaver::CheckpointSaver(Group group, const TrainConfig& config, Progress& progress)
    : group_(std::move(group)),
      progress_(progress),
      needed_(config.checkpoint_errors == "stop"),
      writer_(config) {}

void CheckpointSaver::wait() {
  while_others_wait(group_, [this] { writer_.wait(); });
  look();
}

void CheckpointSaver::heed(const std::optional<std::string>& problem) {
  if (!problem) return;
  if (needed_) throw FileError(*problem);
  progress_.notice(fmt::format("training goes on without this checkpoint: {}", *problem));
}

}  // namespace lockstep::train
