// The test program that mpirun starts once per rank. Rank 0 reports like any test program; the
// others report only failures, so that tests are not counted several times.
#include "comm/mpi/mpi_runtime.h"
#include "support/mpi_world.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

namespace {

class OnlyFailures : public ::testing::EmptyTestEventListener {
 public:
  explicit OnlyFailures(int rank) : rank_(rank) {}

  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::printf("[rank %d] %s:%d: %s\n", rank_, result.file_name() ? result.file_name() : "?",
                result.line_number(), result.message());
    std::fflush(stdout);
  }

 private:
  const int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (!lockstep::internal::comm::mpi_built()) {
    std::puts("skipped: this build has no MPI");
    return 77;
  }
  const int rank = lockstep::internal::comm::MpiRuntime::instance().world_rank();
  if (rank != 0) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(std::make_unique<OnlyFailures>(rank).release());
  }
  const int code = RUN_ALL_TESTS();
  lockstep::internal::testing::MpiWorld::leave();
  return code;
}
