// The cores and memory available to this process, after all limits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace lockstep::internal::launch {

struct Cores {
  int online = 1;   ///< cores of the machine
  int allowed = 1;  ///< cores this process may run on (taskset, cpusets)
  /// Number of cores' CPU time that the control group allows, if limited.
  std::optional<double> quota;

  /// The number of cores that can be kept busy: at least 1.
  int usable() const;
};

struct MachineMemory {
  std::uint64_t total = 0;             ///< bytes of the machine
  std::uint64_t free = 0;              ///< bytes available without swapping
  std::optional<std::uint64_t> limit;  ///< the control group's limit in bytes, if any
};

Cores find_cores();
MachineMemory find_memory();

/// The tightest limits that control groups (version 1 or 2) set for this process, including parent
/// groups. `root` is the folder that contains /proc and /sys.
std::optional<double> cpu_quota(const std::filesystem::path& root = "/");
std::optional<std::uint64_t> memory_limit(const std::filesystem::path& root = "/");

}  // namespace lockstep::internal::launch
