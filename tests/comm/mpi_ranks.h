// Helpers for the tests over MPI. mpirun starts the test program once per rank: all ranks run the
// same tests in the same order, and each test has its own wire.
#pragma once

#include <lockstep/error.h>

#include "base/deadline.h"
#include "comm/mpi/mpi_runtime.h"
#include "comm/mpi/mpi_wire.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace lockstep::internal::comm {

class MpiTest : public ::testing::Test {
 protected:
  static int rank() { return MpiRuntime::instance().world_rank(); }
  static int size() { return MpiRuntime::instance().world_size(); }
  static Deadline soon() { return Deadline::after(std::chrono::seconds(60)); }

  static std::unique_ptr<Wire> make_wire(const MpiWireOptions& options = {}) {
    std::vector<int> members(static_cast<std::size_t>(size()));
    std::iota(members.begin(), members.end(), 0);
    return make_mpi_wire(members, rank(), test_name(), soon(), options);
  }

  static std::string test_name() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    return std::string(info->test_suite_name()) + "." + info->name();
  }

  static void finish(Transfer& transfer) {
    const Deadline deadline = soon();
    while (!transfer.wait_for(std::chrono::milliseconds(50)))
      if (deadline.passed()) throw TimeoutError("a transfer of the test does not end");
  }

  /// For collectives: throws when the test has taken too long.
  static Watch watch() {
    return [deadline = soon()] {
      if (deadline.passed()) throw TimeoutError("a collective of the test does not end");
    };
  }
};

}  // namespace lockstep::internal::comm
