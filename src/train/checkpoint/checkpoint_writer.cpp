#include "train/checkpoint/checkpoint_writer.h"

#include <lockstep/error.h>

#include "base/check.h"

#include <chrono>

namespace lockstep::internal::train {

void CheckpointWriter::start(Checkpoint checkpoint) {
  LOCKSTEP_CHECK(!writing_.valid(), "a checkpoint is still being written");
  writing_ = call_on_thread("checkpoint", [this, checkpoint = std::move(checkpoint)] {
    return write_checkpoint(config_, checkpoint);
  });
}

void CheckpointWriter::wait() {
  if (writing_.valid()) writing_.wait();
}

std::optional<std::string> CheckpointWriter::take_error() {
  if (!writing_.valid()) return std::nullopt;
  if (writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return std::nullopt;
  try {
    newest_ = writing_.get();
    return std::nullopt;
  } catch (const FileError& error) {
    return error.what();
  }
}

}  // namespace lockstep::internal::train
