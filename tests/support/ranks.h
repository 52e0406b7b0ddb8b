// The rank harness: runs a test's body on several ranks, as threads of this process, as forked
// processes with a real launcher and rendezvous, or as the processes that mpirun started. Under
// mpirun a test program runs over MPI only, and only in the existing world.
#pragma once

#include <lockstep/group.h>

#include <functional>
#include <string>
#include <vector>

namespace lockstep::internal::testing {

/// How the ranks of a test are started and communicate: threads; forked processes over shared
/// memory, over Gloo, or as if on several hosts of two ranks each; or processes of mpirun over MPI,
/// or as if on several hosts.
enum class RankKind { thread, process, gloo, hosts, mpi, mpi_hosts };

/// The kinds and worlds to test here. `most_ranks` is the largest world that the tests make
/// themselves: if mpirun started fewer ranks, there are no kinds.
std::vector<RankKind> kinds(int most_ranks = 1);
std::vector<int> world_sizes();

/// The kinds whose ranks may die without ending the test program.
std::vector<RankKind> kinds_that_may_die();

std::string name_of(RankKind kind);

/// Runs `body` on all ranks; a rank that throws, or whose EXPECTs fail, fails the test.
void run_ranks(RankKind kind, int size, const std::function<void(Group)>& body,
               const GroupOptions& options = {});

/// Runs `body` on all ranks and returns the message of the error that each rank threw ("" if none).
/// A process that died has "(died)".
std::vector<std::string> errors_of_ranks(RankKind kind, int size,
                                         const std::function<void(Group)>& body,
                                         const GroupOptions& options = {});

}  // namespace lockstep::internal::testing
