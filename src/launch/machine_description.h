// What machine this is, for people who read of a run on another one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace lockstep::launch {

/// What could not be found out is empty or 0.
struct MachineDescription {
  std::string processor;           ///< "AMD EPYC 7B13"
  int cores = 0;                   ///< online, or what the control group's quota leaves of them
  std::uint64_t memory_bytes = 0;  ///< of the machine
  std::string system;              ///< "Debian GNU/Linux 12 (bookworm), Linux 6.1.0"
};

/// `root` is where /proc and /etc are found.
MachineDescription describe_machine(const std::filesystem::path& root = "/");

}  // namespace lockstep::launch
