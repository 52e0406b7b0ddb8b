// A program whose ranks mpirun starts, and one of which comes to grief. Every rank that lives to
// tell writes the error that it got to FOLDER/RANK.
//
//   mpi_mortal FOLDER VICTIM MISHAP ALGORITHM    in the middle of a stream of all-reduces
//   mpi_mortal FOLDER VICTIM MISHAP DELAY PLAN   after DELAY microseconds of random operations
#include <lockstep/init.h>

#include "base/files.h"
#include "support/mishap.h"
#include "support/mpi_world.h"
#include "support/random_operations.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

/// Open MPI never frees much of what it allocates. Read by address sanitizer, if there is one.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}

namespace {

using lockstep::Group;
using lockstep::testing::Mishap;

void in_the_middle(Group group, int victim, Mishap mishap, const std::string& algorithm) {
  std::vector<float> values(50'000);
  for (int round = 0; round < 1000; ++round) {
    if (group.rank() == victim && round == 7) lockstep::testing::come_to_grief(mishap);
    group.all_reduce(values, lockstep::ReduceOp::sum, lockstep::parse_algorithm(algorithm));
  }
}

void at_random(Group group, int victim, Mishap mishap, std::chrono::microseconds delay,
               std::uint64_t plan) {
  std::jthread grief;
  if (group.rank() == victim) grief = lockstep::testing::come_to_grief_after(delay, mishap);
  lockstep::testing::do_random_operations(group, plan);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) return 2;
  const int victim = std::atoi(argv[2]);
  const Mishap mishap = lockstep::testing::parse_mishap(argv[3]);
  lockstep::GroupOptions options;
  options.transport = "mpi";
  if (mishap == Mishap::stop) options.timeout = lockstep::testing::kDeadlineOfStopped;
  const std::string message = lockstep::testing::message_of([&] {
    if (argc == 6)
      at_random(lockstep::init(options), victim, mishap,
                std::chrono::microseconds(std::stoll(argv[4])), std::stoull(argv[5]));
    else
      in_the_middle(lockstep::init(options), victim, mishap, argv[4]);
  });
  lockstep::write_file(std::filesystem::path(argv[1]) / std::getenv("OMPI_COMM_WORLD_RANK"),
                       message);
}
