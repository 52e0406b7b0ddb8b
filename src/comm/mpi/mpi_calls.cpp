#include "comm/mpi/mpi_calls.h"

#include <lockstep/error.h>

#include "base/sleep.h"

#include <fmt/format.h>

#include <sched.h>

namespace lockstep::internal::comm {

void check_mpi(int code, std::string_view what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  throw Error(fmt::format(
      "MPI failed to {}: {}", what,
      length > 0 ? std::string_view(text, static_cast<std::size_t>(length)) : "unknown error"));
}

void Backoff::pause() {
  using namespace std::chrono_literals;
  constexpr int kSpins = 64;
  if (++spins_ < kSpins) return;
  if (spins_ == kSpins) start_ = now_seconds();
  const double seconds = now_seconds() - start_;
  if (seconds < 0.001)
    ::sched_yield();
  else
    sleep_for(seconds < 0.02 ? 50us : 200us);
}

bool test_request(MPI_Request& request, std::string_view what) {
  const MpiRuntime::Visit visit = MpiRuntime::instance().enter();
  int done = 0;
  check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
  return done != 0;
}

bool poll(const std::function<bool()>& done, std::chrono::milliseconds limit) {
  const Deadline deadline = Deadline::after(limit);
  Backoff backoff;
  while (!done()) {
    if (deadline.passed()) return false;
    backoff.pause();
  }
  return true;
}

}  // namespace lockstep::internal::comm
