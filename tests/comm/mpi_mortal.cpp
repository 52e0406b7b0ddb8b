// A program whose ranks mpirun starts, and one of which comes to grief. Every rank that lives to
// tell writes the error that it got to FOLDER/RANK.
//
//   mpi_mortal FOLDER VICTIM HOW ALGORITHM   in the middle of a stream of all-reduces; HOW is kill,
//                                            segv, exit or stop
//   mpi_mortal FOLDER VICTIM DELAY PLAN      killed after DELAY microseconds of random operations
#include <lockstep/init.h>

#include "base/files.h"
#include "support/mpi_world.h"
#include "support/random_operations.h"

#include <signal.h>
#include <unistd.h>

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

/// Someone has to wake it up again, or the job would not end.
void stop_for_a_while() {
  const pid_t late = ::getpid();
  if (::fork() == 0) {
    std::this_thread::sleep_for(std::chrono::seconds(4));
    ::kill(late, SIGCONT);
    ::_exit(0);
  }
  ::raise(SIGSTOP);
}

void come_to_grief(const std::string& how) {
  if (how == "kill") ::kill(::getpid(), SIGKILL);
  if (how == "segv") {
    ::signal(SIGSEGV, SIG_DFL);  // Open MPI would print a stack first
    ::kill(::getpid(), SIGSEGV);
  }
  if (how == "exit") std::exit(0);
  if (how == "stop") stop_for_a_while();
}

void in_the_middle(Group group, int victim, const std::string& how, const std::string& algorithm) {
  std::vector<float> values(50'000);
  for (int round = 0; round < 1000; ++round) {
    if (group.rank() == victim && round == 7) come_to_grief(how);
    group.all_reduce(values, lockstep::ReduceOp::sum, lockstep::parse_algorithm(algorithm));
  }
}

void at_random(Group group, int victim, std::chrono::microseconds delay, std::uint64_t plan) {
  std::jthread killer;
  if (group.rank() == victim)
    killer = std::jthread([delay] {
      std::this_thread::sleep_for(delay);
      ::kill(::getpid(), SIGKILL);
    });
  lockstep::testing::do_random_operations(group, plan);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const int victim = std::atoi(argv[2]);
  const std::string how = argv[3];
  lockstep::GroupOptions options;
  options.transport = "mpi";
  if (how == "stop") options.timeout = std::chrono::milliseconds(600);
  const std::string message = lockstep::testing::message_of([&] {
    if (std::isdigit(how[0]) != 0)
      at_random(lockstep::init(options), victim, std::chrono::microseconds(std::stoll(how)),
                std::stoull(argv[4]));
    else
      in_the_middle(lockstep::init(options), victim, how, argv[4]);
  });
  lockstep::write_file(std::filesystem::path(argv[1]) / std::getenv("OMPI_COMM_WORLD_RANK"),
                       message);
}
