// Checkpoint: the complete state of a run after an iteration. A run that resumes from it ends with
// the same weights as one that never stopped. It is a safetensors file in the run folder's
// checkpoints/, with the model under PyTorch's names and the optimizer's state; its metadata name
// the run's options and the iteration. Everything random derives from the seed and the iteration,
// so there is no other state. The file holds its own checksum; format 1 had none.
//
// A checkpoint does not depend on the number of ranks, because the images of a step do not.
#pragma once

#include <lockstep/group.h>

#include "models/safetensors.h"
#include "models/stored_tensor.h"
#include "train/config/config.h"

#include <filesystem>
#include <limits>
#include <string_view>
#include <vector>

namespace lockstep::internal::train {

struct Checkpoint {
  std::size_t iteration = 0;  ///< iterations done
  std::vector<models::StoredTensor> state;
  models::Metadata numeric_environment{};  ///< see numeric_environment.h
  std::filesystem::path file{};
  std::string passed_over{};        ///< why newer files were not taken; empty if there are none
  models::Metadata policy_state{};  ///< see EpochPolicy::state()
  bool unfinished = false;  ///< the work after its last step (a test, a checkpoint) is still due
};

/// Whether the run folder has checkpoints, sound or damaged.
bool has_checkpoints(const std::filesystem::path& run_dir);

/// Throws UsageError if the run folder has checkpoints: a new run would mix its own with them.
void require_no_checkpoints(const std::filesystem::path& run_dir);

/// The newest checkpoint of a run folder. Throws FileError if there is none.
std::filesystem::path newest_checkpoint(const std::filesystem::path& run_dir);

/// Writes a checkpoint to the run folder atomically, then removes older ones except the newest
/// config.keep_checkpoints. Any thread, one at a time. On failure (a full disk) throws FileError
/// and removes nothing. Returns the file.
std::filesystem::path write_checkpoint(const TrainConfig& config, const Checkpoint& checkpoint);

/// The content of a checkpoint's file, and back. Error messages name `source`.
std::string format_checkpoint(const TrainConfig& config, const Checkpoint& checkpoint,
                              const std::string& source);
Checkpoint parse_checkpoint(std::string_view content, const std::string& source,
                            const TrainConfig& config);

/// Throws FileError if the file is damaged, UsageError, which names the first option that differs,
/// if it is of another run.
Checkpoint read_checkpoint(const std::filesystem::path& file, const TrainConfig& config);

/// The newest checkpoint of the run that is not damaged. Throws the newest one's FileError if all
/// are, and UsageError if one is of another run.
Checkpoint read_newest_checkpoint(const TrainConfig& config);

/// The same for all ranks: rank 0 reads it, and only there passed_over is set. If the newest
/// checkpoint has all `planned` iterations and is not unfinished, but the run's results were not
/// written, the one before it is taken if there is one: repeating its steps writes them. A
/// collective.
Checkpoint broadcast_checkpoint(Group& group, const TrainConfig& config,
                                std::size_t planned = std::numeric_limits<std::size_t>::max());

}  // namespace lockstep::internal::train
