// Information about processes from /proc. If it cannot be read, as with hidepid, nothing is found.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

namespace lockstep::internal::launch {

using Processes = std::set<pid_t>;

/// The variable that holds the marks of all launchers above a process, the innermost last.
inline constexpr const char* kMarkVariable = "LOCKSTEP_LAUNCHERS";

/// The entries of a folder that are numbers: processes, threads or descriptors.
std::vector<pid_t> numbers_in(const char* folder);

/// The children of all threads of this process, including those whose status was not collected yet.
Processes children_of_this_process();

/// Whether the process has the mark in kMarkVariable. A mark in another variable does not count:
/// other programs may quote it.
bool has_mark(pid_t process, const std::string& mark);

/// All running processes with the mark, except this one.
Processes marked_processes(const std::string& mark);

}  // namespace lockstep::internal::launch
