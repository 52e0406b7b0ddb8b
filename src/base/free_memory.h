// How much memory this process may still take without the kernel ending someone for it.
#pragma once

#include <cstdint>

namespace lockstep {

/// Bytes: what the machine has left, or what the process's control group has left if that is less.
std::uint64_t free_memory();

}  // namespace lockstep
