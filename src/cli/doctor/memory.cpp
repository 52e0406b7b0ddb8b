#include "base/deadline.h"
#include "base/free_memory.h"
#include "base/thread.h"
#include "cli/doctor/measure.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <vector>

namespace lockstep::internal::cli {

namespace {

constexpr std::size_t kMostBytes = 64 << 20;  // much larger than caches
constexpr double kSeconds = 0.2;

/// Copies back and forth until the time is over; returns the number of bytes moved.
std::uint64_t copy_for_a_while(std::vector<char>& a, std::vector<char>& b) {
  std::uint64_t moved = 0;
  const double end = now_seconds() + kSeconds;
  do {
    std::memcpy(b.data(), a.data(), a.size());
    std::swap(a, b);
    moved += 2 * a.size();
  } while (now_seconds() < end);
  return moved;
}

}  // namespace

double copy_bandwidth_gbs(int threads) {
  const auto arrays = 2 * static_cast<std::size_t>(threads);
  // At most a quarter of the free memory.
  const std::size_t bytes =
      std::clamp<std::size_t>(free_memory() / 4 / arrays, 1 << 16, kMostBytes);
  std::vector<std::vector<char>> memory(arrays, std::vector<char>(bytes, 1));
  std::vector<double> gbs(static_cast<std::size_t>(threads));
  std::barrier start(threads);
  std::vector<Thread> workers;
  for (std::size_t i = 0; i < gbs.size(); ++i)
    workers.emplace_back("memory test", [&, i] {
      start.arrive_and_wait();
      const double begin = now_seconds();
      const std::uint64_t moved = copy_for_a_while(memory[2 * i], memory[2 * i + 1]);
      gbs[i] = static_cast<double>(moved) / (now_seconds() - begin) / 1e9;
    });
  workers.clear();
  double sum = 0;
  for (double one : gbs) sum += one;
  return sum;
}

}  // namespace lockstep::internal::cli
