#include "run/checkpoint_files.h"

#include <lockstep/error.h>

#include "base/number.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace lockstep::internal::run {

namespace {

constexpr std::string_view kPrefix = "iteration-";
constexpr std::string_view kSuffix = ".safetensors";

std::filesystem::path folder_of(const std::filesystem::path& run_dir) {
  return run_dir / "checkpoints";
}

/// None if there is no such folder.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    files.push_back(entry.path());
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    throw FileError(
        fmt::format("{}: cannot read this folder: {}", folder.string(), error.message()));
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

/// Of another process: what this one writes is under way.
bool is_cut_off(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with(kPrefix) && name.ends_with(".part") &&
         !name.ends_with(fmt::format(".{}.part", ::getpid()));
}

}  // namespace

std::optional<std::size_t> iteration_of(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  const std::string_view text(name);
  if (!text.starts_with(kPrefix) || !text.ends_with(kSuffix)) return std::nullopt;
  return number_in<std::size_t>(text.substr(
      kPrefix.size(), text.size() - std::min(text.size(), kPrefix.size() + kSuffix.size())));
}

std::filesystem::path checkpoint_file(const std::filesystem::path& run_dir, std::size_t iteration) {
  return folder_of(run_dir) / fmt::format("{}{:08}{}", kPrefix, iteration, kSuffix);
}

std::vector<std::filesystem::path> checkpoints_of(const std::filesystem::path& run_dir) {
  return checkpoints_in(folder_of(run_dir));
}

std::vector<std::filesystem::path> require_checkpoints(const std::filesystem::path& run_dir) {
  auto files = checkpoints_of(run_dir);
  if (files.empty())
    throw FileError(fmt::format(
        "{}: there is no checkpoint to resume from: train with --checkpoint-every, or start a new "
        "run without --resume",
        folder_of(run_dir).string()));
  return files;
}

void remove_older(const std::filesystem::path& newest, std::size_t kept) {
  std::error_code error;
  const auto files = checkpoints_in(newest.parent_path());
  const auto mine = std::find(files.begin(), files.end(), newest);
  for (auto file = mine; file != files.end(); ++file)
    if (file - mine >= static_cast<std::ptrdiff_t>(kept)) std::filesystem::remove(*file, error);
}

void remove_left_over(const std::filesystem::path& run_dir, std::size_t iteration) {
  std::error_code error;
  for (const auto& file : files_in(folder_of(run_dir)))
    if (is_cut_off(file) || iteration_of(file).value_or(0) > iteration)
      std::filesystem::remove(file, error);
}

}  // namespace lockstep::internal::run
