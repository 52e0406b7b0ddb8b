#include "train/checkpoint.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/number.h"
#include "models/checksum.h"
#include "sync/share_text.h"
#include "train/arithmetic.h"
#include "train/while_others_wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>

namespace lockstep::train {

namespace {

constexpr std::string_view kFormat = "lockstep checkpoint 2";
constexpr std::string_view kWithoutChecksum = "lockstep checkpoint 1";
constexpr std::string_view kPrefix = "iteration-";
constexpr std::string_view kSuffix = ".safetensors";

std::filesystem::path folder_of(const std::filesystem::path& run_dir) {
  return run_dir / "checkpoints";
}

models::Metadata job_of(const TrainConfig& config) {
  return {{"--model", config.model},
          {"--data", config.data},
          {"--limit", std::to_string(config.limit)},
          {"--dtype", config.dtype},
          {"--batch", std::to_string(config.batch)},
          {"--seed", std::to_string(config.seed)},
          {"--no-shuffle", config.shuffle ? "off" : "on"},
          {"--augment", config.augment ? "on" : "off"},
          {"--sync-bn", config.sync_bn ? "on" : "off"},
          {"--shards", std::to_string(config.shards)},
          {"--compress", config.compress},
          {"--local-steps",
           config.method().sync == "local-sgd" ? std::to_string(config.local_steps) : ""},
          {"--lr", fmt::format("{}", config.learning_rate)},
          {"--momentum", fmt::format("{}", config.momentum)},
          {"--weight-decay", fmt::format("{}", config.weight_decay)},
          {"--nesterov", config.nesterov ? "on" : "off"}};
}

/// The options that decide what a step computes: a run cannot go on with others.
models::Metadata identity_of(const TrainConfig& config) {
  models::Metadata identity = job_of(config);
  identity.merge(config.recipe.identity());
  // Where the rate depends on how long training is, that is part of it, too.
  if (optim::parse_shape(config.recipe.schedule).spans_training()) {
    identity["--epochs"] = std::to_string(config.epochs);
    identity["--iterations"] = std::to_string(config.iterations);
  }
  return identity;
}

/// The iteration in a checkpoint's name; none for other files.
std::optional<std::size_t> iteration_of(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  const std::string_view text(name);
  if (!text.starts_with(kPrefix) || !text.ends_with(kSuffix)) return std::nullopt;
  return number_in<std::size_t>(text.substr(
      kPrefix.size(), text.size() - std::min(text.size(), kPrefix.size() + kSuffix.size())));
}

/// None if there is no such folder.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    files.push_back(entry.path());
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    throw FileError(fmt::format("{}: cannot look into it: {}", folder.string(), error.message()));
  return files;
}

/// Newest first.
std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& folder) {
  std::vector<std::pair<std::size_t, std::filesystem::path>> found;
  for (const auto& file : files_in(folder))
    if (const auto iteration = iteration_of(file)) found.emplace_back(*iteration, file);
  std::sort(found.rbegin(), found.rend());
  std::vector<std::filesystem::path> files;
  for (auto& [iteration, file] : found) files.push_back(std::move(file));
  return files;
}

/// What older checkpoints and writes that were cut off have left, and those that come after the
/// newest: the run was resumed from before them, and is another one since. Failure costs only room.
void remove_left_over(const std::filesystem::path& folder, const std::filesystem::path& newest,
                      std::size_t kept) {
  std::error_code error;
  const auto files = checkpoints_in(folder);
  const auto mine = std::find(files.begin(), files.end(), newest);
  for (auto file = files.begin(); file != files.end(); ++file)
    if (file < mine || file - mine >= static_cast<std::ptrdiff_t>(kept))
      std::filesystem::remove(*file, error);
  for (const auto& file : files_in(folder))
    if (file.filename().string().starts_with(kPrefix) && file.extension() == ".part")
      std::filesystem::remove(file, error);
}

void require_same_run(const models::Metadata& metadata, const TrainConfig& config,
                      const std::string& source) {
  for (const auto& [option, value] : identity_of(config)) {
    const auto found = metadata.find(option);
    if (found == metadata.end() && option == "--shards" && value == "0") continue;  // older than it
    if (found == metadata.end())
      throw FileError(fmt::format("{}: it does not say which {} it was made with", source, option));
    if (found->second != value)
      throw UsageError(
          fmt::format("{} was made with {} {}, not {}: resume with the same options, or start anew "
                      "in another --run-dir",
                      source, option, found->second, value));
  }
}

/// Never empty.
std::vector<std::filesystem::path> require_checkpoints(const std::filesystem::path& run_dir) {
  auto files = checkpoints_in(folder_of(run_dir));
  if (files.empty())
    throw FileError(fmt::format(
        "{}: there is no checkpoint to resume from: train with --checkpoint-every, or start anew "
        "without --resume",
        folder_of(run_dir).string()));
  return files;
}

/// The newest sound one, and its file's content.
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

/// The one to go on from: see share_checkpoint.
Checkpoint find_next(const TrainConfig& config, std::size_t planned, std::string& content) {
  std::vector<std::filesystem::path> files = require_checkpoints(config.run_dir);
  Checkpoint newest = find_sound(files, config, content);
  if (newest.iteration < planned || std::filesystem::exists(config.run_dir / "summary.json"))
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
  return !checkpoints_in(folder_of(run_dir)).empty();
}

void require_no_checkpoints(const std::filesystem::path& run_dir) {
  if (has_checkpoints(run_dir))
    throw UsageError(fmt::format(
        "{} has checkpoints of an earlier run: go on with it (--resume), remove them, or start in "
        "another --run-dir",
        folder_of(run_dir).string()));
}

std::filesystem::path newest_checkpoint(const std::filesystem::path& run_dir) {
  return require_checkpoints(run_dir).front();
}

std::string format_checkpoint(const TrainConfig& config, const Checkpoint& checkpoint,
                              const std::string& source) {
  models::Metadata metadata = identity_of(config);
  metadata["format"] = kFormat;
  metadata["iteration"] = std::to_string(checkpoint.iteration);
  add_arithmetic(checkpoint.arithmetic, metadata);
  metadata.insert(checkpoint.notes.begin(), checkpoint.notes.end());
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
  if (!iteration) throw FileError(fmt::format("{}: it does not say how far the run was", source));
  checkpoint.iteration = *iteration;
  checkpoint.arithmetic = arithmetic_in(metadata);
  checkpoint.file = source;
  checkpoint.notes = std::move(metadata);
  return checkpoint;
}

std::filesystem::path write_checkpoint(const TrainConfig& config, const Checkpoint& checkpoint) {
  const auto folder = folder_of(config.run_dir);
  make_folder(folder);
  const auto file = folder / fmt::format("{}{:08}{}", kPrefix, checkpoint.iteration, kSuffix);
  write_file(file, format_checkpoint(config, checkpoint, file.string()));
  remove_left_over(folder, file, config.keep_checkpoints);
  return file;
}

Checkpoint read_checkpoint(const std::filesystem::path& file, const TrainConfig& config) {
  return parse_checkpoint(read_file(file), file.string(), config);
}

Checkpoint read_newest_checkpoint(const TrainConfig& config) {
  std::string content;
  return find_sound(require_checkpoints(config.run_dir), config, content);
}

Checkpoint share_checkpoint(Group& group, const TrainConfig& config, std::size_t planned) {
  Checkpoint checkpoint;
  std::string content;
  while_others_wait(group, [&] { checkpoint = find_next(config, planned, content); });
  std::string source = checkpoint.file.string();
  sync::share_text(group, source);
  sync::share_text(group, content);
  return group.rank() == 0 ? checkpoint : parse_checkpoint(content, source, config);
}

}  // namespace lockstep::train
