// Helpers to call MPI: errors as exceptions, and waiting that yields the core.
#pragma once

#include "comm/mpi/mpi_runtime.h"

#include <chrono>
#include <functional>
#include <mpi.h>
#include <string_view>

namespace lockstep::internal::comm {

/// Throws Error with MPI's own text unless `code` is MPI_SUCCESS.
void check_mpi(int code, std::string_view what);

/// The communicator of all processes of the run, used by Lockstep only. REQUIRES: the runtime was
/// started.
MPI_Comm mpi_world();

/// The pauses of a loop that polls MPI. Messages move only inside MPI calls, so the loop must not
/// sleep for long; ranks often outnumber cores, so it must not spin for long either.
class Backoff {
 public:
  void pause();

 private:
  int spins_ = 0;
  double start_ = 0;  ///< when it stopped spinning, by now_seconds()
};

/// Whether the request is complete; MPI then frees it. Throws Error like check_mpi.
bool test_request(MPI_Request& request, std::string_view what);

/// Tests until `done` returns true or `limit` has passed; returns whether it is done.
bool poll(const std::function<bool()>& done, std::chrono::milliseconds limit);

/// How long an abandoned operation may take to end before the runtime is shut down.
constexpr std::chrono::milliseconds kAbandonTime(250);

}  // namespace lockstep::internal::comm
