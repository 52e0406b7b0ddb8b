// Checkpoints: all that a run needs to go on and end with the weights of one that never stopped. A
// safetensors file in the run folder's checkpoints/, with the model under PyTorch's names and the
// optimizer's state beside it; metadata say which run it belongs to and how far that had come.
// Everything random derives from the seed and the position, so there is no other state. A checksum
// of the whole file is part of it; files of earlier versions have none.
//
// The ranks' number is no part of it: the images of a step do not depend on it.
#pragma once

#include <lockstep/group.h>

#include "models/safetensors.h"
#include "models/stored_tensor.h"
#include "train/config.h"

#include <filesystem>
#include <limits>
#include <string_view>
#include <vector>

namespace lockstep::train {

struct Checkpoint {
  std::size_t iteration = 0;  ///< done so far
  std::vector<models::StoredTensor> state;
  models::Metadata arithmetic{};  ///< that it was computed with: see arithmetic.h
  std::filesystem::path file{};
  std::string passed_over{};  ///< what is wrong with newer ones, if there are any
  models::Metadata notes{};   ///< what else the run remembers, kept among the metadata
  bool unfinished = false;    ///< what follows its last step, a test say, is yet to be done
};

/// Whether the run folder has any, sound or not.
bool has_checkpoints(const std::filesystem::path& run_dir);

/// Throws UsageError if the run folder has checkpoints: a run that starts anew would mix its own
/// with them.
void require_no_checkpoints(const std::filesystem::path& run_dir);

/// The newest checkpoint of a run folder. Throws FileError if there is none.
std::filesystem::path newest_checkpoint(const std::filesystem::path& run_dir);

/// Writes it to the run folder as a whole, then removes all older ones but as many as
/// config.keep_checkpoints asks for. May run in a thread of its own, one at a time. On failure (a
/// full disk) throws FileError and leaves those that were there. Returns the file.
std::filesystem::path write_checkpoint(const TrainConfig& config, const Checkpoint& checkpoint);

/// The content of its file, and back. Messages call it `source`.
std::string format_checkpoint(const TrainConfig& config, const Checkpoint& checkpoint,
                              const std::string& source);
Checkpoint parse_checkpoint(std::string_view content, const std::string& source,
                            const TrainConfig& config);

/// Throws FileError if the file is not a sound checkpoint, UsageError if it is of another run: the
/// message names the first option that differs.
Checkpoint read_checkpoint(const std::filesystem::path& file, const TrainConfig& config);

/// The newest checkpoint of the run that is sound: one that is damaged gives way to the one before.
/// Throws what is wrong with the newest if none is, and UsageError if one is of another run.
Checkpoint read_newest_checkpoint(const TrainConfig& config);

/// The same, which rank 0 reads for all; only there it says what was passed over. If the run ended
/// after all that was `planned`, but before its results were written, the one before is taken where
/// there is one, so that they come about; not if the newest is unfinished, from which they do, too.
/// A collective.
Checkpoint share_checkpoint(Group& group, const TrainConfig& config,
                            std::size_t planned = std::numeric_limits<std::size_t>::max());

}  // namespace lockstep::train
