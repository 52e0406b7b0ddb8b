#include "run/continuing.h"

#include <lockstep/error.h>

#include "run/checkpoint_files.h"
#include "run/fields.h"

#include <fmt/format.h>

namespace lockstep::internal::run {

namespace {

std::vector<std::filesystem::path> readable_checkpoints(const std::filesystem::path& folder) {
  try {
    return checkpoints_of(folder);
  } catch (const FileError&) {
    return {};
  }
}

nlohmann::json config_of(const std::filesystem::path& folder) {
  try {
    return read_fields(folder / "config.json").json();
  } catch (const FileError&) {
    return nlohmann::json::object();
  }
}

/// Whether an option was given that is a flag or a number.
bool uses(const nlohmann::json& config, const char* option) {
  const auto found = config.find(option);
  return found != config.end() && *found != false && *found != 0;
}

}  // namespace

std::string how_to_continue(const std::filesystem::path& folder, bool worker_lost) {
  const auto checkpoints = readable_checkpoints(folder);
  std::string text =
      checkpoints.empty()
          ? "There is no checkpoint to resume from: --checkpoint-every N writes them."
          : fmt::format(
                "To continue after iteration {}, repeat the command with --resume --run-dir "
                "{}.",
                iteration_of(checkpoints.front()).value_or(0), folder.string());
  const nlohmann::json config = config_of(folder);
  if (!worker_lost || uses(config, "elastic")) return text;
  if (!uses(config, "restarts"))
    text +=
        " With --restarts N, a run that loses a worker starts again from its newest checkpoint.";
  return text + " With --elastic and --shards, it continues without that worker.";
}

}  // namespace lockstep::internal::run
