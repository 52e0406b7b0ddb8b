#include "train/checkpoint_writer.h"

#include <lockstep/error.h>

#include "base/check.h"

#include <chrono>

namespace lockstep::train {

void CheckpointWriter::start(Checkpoint checkpoint) {
  LOCKSTEP_CHECK(!under_way_.valid(), "a checkpoint is still being written");
  under_way_ = std::async(std::launch::async, [this, checkpoint = std::move(checkpoint)] {
    return write_checkpoint(config_, checkpoint);
  });
}

void CheckpointWriter::wait() {
  if (under_way_.valid()) under_way_.wait();
}

std::optional<std::string> CheckpointWriter::problem() {
  if (!under_way_.valid()) return std::nullopt;
  if (under_way_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return std::nullopt;
  try {
    newest_ = under_way_.get();
    return std::nullopt;
  } catch (const FileError& error) {
    return error.what();
  }
}

}  // namespace lockstep::train
