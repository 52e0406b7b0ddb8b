// Distributes this host's cores among the workers of a run.
#pragma once

#include <vector>

namespace lockstep::internal::launch {

/// The cores that this process may use, with the threads of one physical core next to each other.
std::vector<int> usable_cores();

/// Part `index` of `parts` of the cores: adjacent cores, with part sizes that differ by at most
/// one. Empty if there are fewer cores than parts.
std::vector<int> share_of_cores(const std::vector<int>& cores, int index, int parts);

/// Pins this thread, and all threads and processes it starts, to these cores; does nothing for an
/// empty list. Safe between fork and exec. If the kernel refuses, the worker runs on any core.
void pin_to(const std::vector<int>& cores);

/// Threads per worker if `workers` share the usable cores: at least 1. OMP_NUM_THREADS has
/// precedence: the user set it, or a launcher that counted the cores before it pinned this process
/// to a few of them.
int threads_per_worker(int workers);

}  // namespace lockstep::internal::launch
