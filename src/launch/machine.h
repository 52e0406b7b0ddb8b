// What this process may use of the machine: cores and memory, after all limits that are set on it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace lockstep::launch {

struct Cores {
  int online = 1;               ///< that the machine has
  int allowed = 1;              ///< that this process may run on (taskset, cpusets)
  std::optional<double> quota;  ///< cores' worth of time that its control group gets, if limited

  /// How many can be kept busy: at least 1.
  int usable() const;
};

struct MachineMemory {
  std::uint64_t total = 0;             ///< bytes of the machine
  std::uint64_t free = 0;              ///< bytes that can be had without swapping
  std::optional<std::uint64_t> limit;  ///< bytes that its control group may take, if limited
};

Cores find_cores();
MachineMemory find_memory();

/// The tightest limits that control groups, version 1 or 2, set for this process, its group's
/// parents included. `root` is where /proc and /sys are found.
std::optional<double> cpu_quota(const std::filesystem::path& root = "/");
std::optional<std::uint64_t> memory_limit(const std::filesystem::path& root = "/");

}  // namespace lockstep::launch
