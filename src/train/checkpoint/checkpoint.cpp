#include "train/checkpoint/checkpoint.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/number.h"
#include "comm/purpose.h"
#include "models/checksum.h"
#include "run/checkpoint_files.h"
#include "sync/broadcast_text.h"
#include "sync/on_rank_zero.h"
#include "train/config/numeric_environment.h"
#include "train/config/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>

namespace lockstep::internal::train {

namespace {

constexpr std::string_view kFormat = "lockstep checkpoint 2";
constexpr std::string_view kWithoutChecksum = "lockstep checkpoint 1";

/// A name in the metadata, and its value.
constexpr const char* kUnfinished = "after_step";
constexpr std::string_view kIsDue = "due";

void require_same_run(const models::Metadata& metadata, const TrainConfig& config,
                      const std::string& source) {
  for (const auto& [option, value] : identity_of(config)) {
    const auto found = metadata.find(option);
    const bool usual =
        (option == "--shards" && value == "0") || (option == "--split" && value == "sampler");
    if (found == metadata.end() && usual) continue;  // written before the option existed
    if (found == metadata.end())
      throw FileError(fmt::format("{}: its metadata lack {}", source, option));
    if (found->second != value)
      throw UsageError(fmt::format(
          "{} was made with {} {}, not {}: resume with the same options, or start a new "
          "run in another --run-dir",
          source, option, found->second, value));
  }
}

/// The newest checkpoint that is not damaged, and its file's content.
Checkpoint find_sound(const std::vector<std::filesystem::path>& files, const TrainConfig& config,
                      std::string& content) {
  std::string damage;
  std::exception_ptr newest;
  for (const auto& file : files) {
    try {
      content = read_file(file);
      Checkpoint checkpoint = parse_checkpoint(content, file.string(), config);
      checkpoint.passed_over = damage;
      return checkpoint;
    } catch (const FileError& error) {
      if (!newest) newest = std::current_exception();
      damage += fmt::format("{}{}", damage.empty() ? "" : "; ", error.what());
    }
  }
  std::rethrow_exception(newest);
}

/// The checkpoint to resume from: see broadcast_checkpoint.
Checkpoint find_next(const TrainConfig& config, std::size_t planned, std::string& content) {
  std::vector<std::filesystem::path> files = run::require_checkpoints(config.run_dir);
  Checkpoint newest = find_sound(files, config, content);
  if (newest.iteration < planned || newest.unfinished ||
      std::filesystem::exists(config.run_dir / "summary.json"))
    return newest;
  files.erase(files.begin(), std::find(files.begin(), files.end(), newest.file) + 1);
  std::string before;
  try {
    if (files.empty()) return newest;
    Checkpoint checkpoint = find_sound(files, config, before);
    checkpoint.passed_over = fmt::format("{} has all {} iterations, but not the results of the run",
                                         newest.file.string(), newest.iteration);
    content = std::move(before);
    return checkpoint;
  } catch (const FileError&) {
    return newest;
  }
}

}  // namespace

bool has_checkpoints(const std::filesystem::path& run_dir) {
  return !run::checkpoints_of(run_dir).empty();
}

void require_no_checkpoints(const std::filesystem::path& run_dir) {
  if (has_checkpoints(run_dir))
    throw UsageError(fmt::format(
        "{} has checkpoints of an earlier run: resume it (--resume), remove them, or use another "
        "--run-dir",
        run::checkpoints_of(run_dir).front().parent_path().string()));
}

std::filesystem::path newest_checkpoint(const std::filesystem::path& run_dir) {
  return run::require_checkpoints(run_dir).front();
}

std::string format_checkpoint(const TrainConfig& config, const Checkpoint& checkpoint,
                              const std::string& source) {
  models::Metadata metadata = identity_of(config);
  metadata["format"] = kFormat;
  metadata["iteration"] = std::to_string(checkpoint.iteration);
  if (checkpoint.unfinished) metadata[kUnfinished] = kIsDue;
  add_numeric_environment(checkpoint.numeric_environment, metadata);
  metadata.insert(checkpoint.policy_state.begin(), checkpoint.policy_state.end());
  return models::format_with_checksum(checkpoint.state, metadata, source);
}

Checkpoint parse_checkpoint(std::string_view content, const std::string& source,
                            const TrainConfig& config) {
  Checkpoint checkpoint;
  models::Metadata metadata;
  checkpoint.state = models::parse_safetensors(content, source, &metadata);
  if (metadata["format"] == kFormat)
    models::require_checksum(content, metadata, source);
  else if (metadata["format"] != kWithoutChecksum)
    throw FileError(fmt::format("{}: not a checkpoint of this version of Lockstep", source));
  require_same_run(metadata, config, source);
  const auto iteration = number_in<std::size_t>(metadata["iteration"]);
  if (!iteration) throw FileError(fmt::format("{}: its metadata lack the iteration", source));
  checkpoint.iteration = *iteration;
  checkpoint.unfinished = *iteration > 0 && metadata[kUnfinished] == kIsDue;
  metadata.erase(kUnfinished);
  checkpoint.numeric_environment = numeric_environment_in(metadata);
  checkpoint.file = source;
  checkpoint.policy_state = std::move(metadata);
  return checkpoint;
}

std::filesystem::path write_checkpoint(const TrainConfig& config, const Checkpoint& checkpoint) {
  const auto file = run::checkpoint_file(config.run_dir, checkpoint.iteration);
  make_folder(file.parent_path());
  write_file(file, format_checkpoint(config, checkpoint, file.string()));
  run::remove_older(file, config.keep_checkpoints);
  return file;
}

Checkpoint read_checkpoint(const std::filesystem::path& file, const TrainConfig& config) {
  return parse_checkpoint(read_file(file), file.string(), config);
}

Checkpoint read_newest_checkpoint(const TrainConfig& config) {
  std::string content;
  return find_sound(run::require_checkpoints(config.run_dir), config, content);
}

Checkpoint broadcast_checkpoint(Group& group, const TrainConfig& config, std::size_t planned) {
  const comm::PurposeMark mark(comm::Purpose::checkpoints);
  Checkpoint checkpoint;
  std::string content;
  sync::on_rank_zero(group, [&] { checkpoint = find_next(config, planned, content); });
  std::string source = checkpoint.file.string();
  sync::broadcast_text(group, source);
  sync::broadcast_text(group, content);
  return group.rank() == 0 ? checkpoint : parse_checkpoint(content, source, config);
}

}  // namespace lockstep::internal::train
