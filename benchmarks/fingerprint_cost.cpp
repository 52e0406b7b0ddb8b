// fingerprint_cost: the cost of comparing fingerprints in an all-reduce of 64 KiB over shared
// memory.
//
// Ranks compare at a barrier that the collective needs in any case, and the words are in a cache
// line that the barrier reads in any case. So the cost is that of the comparison alone. It is timed
// in a loop, after a barrier of the ranks. The times of the comparison and of the whole all-reduce
// are the fastest of many short rounds, because a busy machine only adds time.
#include <lockstep/group.h>
#include <lockstep/init.h>

#include "comm/shared/shared_barrier.h"
#include "comm/thread/thread_space.h"
#include "launch/job.h"

#include <fmt/format.h>

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <thread>

namespace lockstep::internal::benchmarks {

namespace {

constexpr int kRounds = 300;
constexpr int kRepetitions = 200;

/// Seconds per comparison.
double time_comparisons(const comm::SharedBarrier& barrier) {
  const double start = now_seconds();
  for (int i = 0; i < kRepetitions; ++i) {
    barrier.require_agreement();
    asm volatile("" : : : "memory");  // else the compiler would reuse the result
  }
  return (now_seconds() - start) / kRepetitions;
}

double measure_comparison(int ranks) {
  auto world = std::make_shared<comm::ThreadWorld>(comm::Membership::world(0, ranks).labels);
  double fastest = 1;
  auto run_rank = [&](int rank) {
    const comm::Fingerprint call{.operation = comm::Operation::all_reduce, .count = 16384};
    comm::ThreadSpace space(world);
    comm::SharedBarrier barrier(
        space, rank, [] { return false; }, [] {});
    for (int round = 0; round < kRounds; ++round) {
      barrier.wait_for_all({call, {}, {}}, Deadline::after(std::chrono::seconds(60)));
      if (rank == 0) fastest = std::min(fastest, time_comparisons(barrier));
    }
  };
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(run_rank, rank);
  threads.clear();
  return fastest;
}

/// Seconds per all-reduce of 64 KiB.
double time_all_reduce(Group group) {
  const Memory memory = group.allocate(64 * 1024);
  double fastest = 1;
  for (int round = 0; round < kRounds; ++round) {
    const double start = now_seconds();
    for (int i = 0; i < kRepetitions; ++i) group.all_reduce(memory.as<float>());
    fastest = std::min(fastest, (now_seconds() - start) / kRepetitions);
  }
  return fastest;
}

double all_reduce_between_threads(int ranks) {
  double seconds = 0;
  run_threads(ranks, [&](Group group) {
    const bool first = group.rank() == 0;
    const double mine = time_all_reduce(std::move(group));
    if (first) seconds = mine;
  });
  return seconds;
}

double all_reduce_between_processes(int ranks) {
  void* page =
      ::mmap(nullptr, sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::bad_alloc();
  auto* seconds = static_cast<double*>(page);
  launch::run_forked({.workers = ranks}, [&] {
    Group group = init();
    const bool first = group.rank() == 0;
    const double mine = time_all_reduce(std::move(group));
    if (first) *seconds = mine;
    return 0;
  });
  const double result = *seconds;
  ::munmap(page, sizeof(double));
  return result;
}

void report(int ranks, std::string_view transport, double whole, double comparison) {
  fmt::print("{:>7} {:<9} {:>13.2f} {:>13.1f} {:>8.2f}\n", ranks, transport, 1e6 * whole,
             1e9 * comparison, 100 * comparison / whole);
}

}  // namespace

}  // namespace lockstep::internal::benchmarks

int main() {
  using namespace lockstep::internal::benchmarks;
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // else forked ranks would print it again
  fmt::print("{:>7} {:<9} {:>13} {:>13} {:>8}\n", "workers", "transport", "all-reduce us",
             "comparison ns", "percent");
  for (int ranks : {2, 4}) {
    const double comparison = measure_comparison(ranks);
    report(ranks, "thread", all_reduce_between_threads(ranks), comparison);
    report(ranks, "shm", all_reduce_between_processes(ranks), comparison);
  }
  return 0;
}
