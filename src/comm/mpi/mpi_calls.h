// What all files of this folder need to call MPI: errors as exceptions, and polite waiting.
#pragma once

#include "comm/mpi/mpi_runtime.h"

#include <chrono>
#include <functional>
#include <mpi.h>
#include <string_view>

namespace lockstep::comm {

/// Throws Error with MPI's own text unless `code` is MPI_SUCCESS.
void check_mpi(int code, std::string_view what);

/// All processes of the run; no one else's messages are on it. REQUIRES: the runtime was started.
MPI_Comm mpi_world();

/// The pauses of a loop that polls MPI. Its messages move only inside MPI calls, so the loop may
/// not sleep for long; ranks often outnumber cores, so it may not spin for long either.
class Patience {
 public:
  void pause();

 private:
  int spins_ = 0;
  std::chrono::steady_clock::time_point start_;
};

/// Whether the request is complete; MPI then forgets it. Throws Error like check_mpi.
bool test_request(MPI_Request& request, std::string_view what);

/// Tests until `done` or until `limit` has passed; returns whether it is done.
bool poll(const std::function<bool()>& done, std::chrono::milliseconds limit);

/// How long an operation that is given up may take to end before the runtime is shut for its sake.
constexpr std::chrono::milliseconds kFarewell(250);

}  // namespace lockstep::comm
