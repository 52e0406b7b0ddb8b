// How much memory this process can still allocate before the kernel kills a process.
#pragma once

#include <cstdint>

namespace lockstep::internal {

/// In bytes: the machine's free memory, or what is left of the control group's limit if that is
/// less.
std::uint64_t free_memory();

}  // namespace lockstep::internal
