// Replaces the other files of this folder if MPI was not found.
#include <lockstep/error.h>

#include "comm/mpi/mpi_runtime.h"
#include "comm/mpi/mpi_wire.h"

namespace lockstep::internal::comm {

namespace {

[[noreturn]] void refuse() {
  throw UsageError(
      "this build has no MPI: install libopenmpi-dev and openmpi-bin, then build again");
}

}  // namespace

bool mpi_built() {
  return false;
}

std::string mpi_version() {
  return "";
}

MpiRuntime& MpiRuntime::instance() {
  refuse();
}

std::string MpiRuntime::broadcast(std::string, const Deadline&) {
  refuse();
}

MpiRuntime::Visit MpiRuntime::enter() {
  refuse();
}

void MpiRuntime::skip_finalize() noexcept {}

void MpiRuntime::shut(const std::string&) {
  refuse();
}

std::unique_ptr<Wire> make_mpi_wire(const std::vector<int>&, int, const std::string&,
                                    const WaitLimit&, const MpiWireOptions&) {
  refuse();
}

WireKind mpi_wire() {
  return {.name = "mpi",
          .channels = 1,
          .make = [](const RunContext&, const Membership&, std::vector<Peer>&,
                     const WaitLimit&) -> std::unique_ptr<Wire> { refuse(); }};
}

}  // namespace lockstep::internal::comm
