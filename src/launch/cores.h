// Sharing out this host's cores among the workers of a run.
#pragma once

#include <vector>

namespace lockstep::launch {

/// The cores that this process may use, those that share a physical core side by side.
std::vector<int> usable_cores();

/// Part `index` of `parts` of the cores: neighbours, and sizes that differ by at most one. Empty if
/// there are fewer cores than parts.
std::vector<int> share_of_cores(const std::vector<int>& cores, int index, int parts);

/// Keeps this thread, and all that it starts, on these cores; does nothing for none. Safe between
/// fork and exec. A kernel that refuses is no error: the worker runs anywhere then.
void pin_to(const std::vector<int>& cores);

/// Threads each of `workers` gets when they share the usable cores: at least 1. What
/// OMP_NUM_THREADS says goes first: the user set it, or a launcher that counted the cores before it
/// pinned this process to a few of them.
int threads_per_worker(int workers);

}  // namespace lockstep::launch
