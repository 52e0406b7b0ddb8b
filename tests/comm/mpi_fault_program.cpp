// A program whose ranks mpirun starts, one of which fails. Every surviving rank writes its error to
// FOLDER/RANK.
//
//   mpi_fault_program FOLDER VICTIM FAULT ALGORITHM    in the middle of a stream of all-reduces
//   mpi_fault_program FOLDER VICTIM FAULT DELAY PLAN   after DELAY microseconds of random
//   operations
#include <lockstep/init.h>

#include "base/files.h"
#include "support/fault.h"
#include "support/mpi_world.h"
#include "support/random_operations.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

/// Open MPI does not free much of what it allocates. Read by address sanitizer, if there is one.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}

namespace {

using lockstep::Group;
using lockstep::internal::testing::Fault;

void in_the_middle(Group group, int victim, Fault fault, const std::string& algorithm) {
  std::vector<float> values(50'000);
  for (int round = 0; round < 1000; ++round) {
    if (group.rank() == victim && round == 7) lockstep::internal::testing::inject_fault(fault);
    group.all_reduce(values, lockstep::ReduceOp::sum, lockstep::parse_algorithm(algorithm));
  }
}

void at_random(Group group, int victim, Fault fault, std::chrono::microseconds delay,
               std::uint64_t plan) {
  std::jthread injector;
  if (group.rank() == victim)
    injector = lockstep::internal::testing::inject_fault_after(delay, fault);
  lockstep::internal::testing::do_random_operations(group, plan);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) return 2;
  const int victim = std::atoi(argv[2]);
  const Fault fault = lockstep::internal::testing::parse_fault(argv[3]);
  lockstep::GroupOptions options;
  options.transport = "mpi";
  if (fault == Fault::stop) options.timeout = lockstep::internal::testing::kDeadlineOfStopped;
  const std::string message = lockstep::internal::testing::message_of([&] {
    if (argc == 6)
      at_random(lockstep::init(options), victim, fault,
                std::chrono::microseconds(std::stoll(argv[4])), std::stoull(argv[5]));
    else
      in_the_middle(lockstep::init(options), victim, fault, argv[4]);
  });
  lockstep::internal::write_file(
      std::filesystem::path(argv[1]) / std::getenv("OMPI_COMM_WORLD_RANK"), message);
}
