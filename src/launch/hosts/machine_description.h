// A description of this machine for reports.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace lockstep::internal::launch {

/// Unknown fields are empty or 0.
struct MachineDescription {
  std::string processor;           ///< "AMD EPYC 7B13"
  int cores = 0;                   ///< cores online, or the control group's quota if that is less
  std::uint64_t memory_bytes = 0;  ///< of the machine
  std::string system;              ///< "Debian GNU/Linux 12 (bookworm), Linux 6.1.0"
};

/// `root` is the folder that contains /proc and /etc.
MachineDescription describe_machine(const std::filesystem::path& root = "/");

}  // namespace lockstep::internal::launch
