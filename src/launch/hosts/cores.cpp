#include "launch/hosts/cores.h"

#include "base/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sched.h>
#include <sstream>
#include <string>
#include <tuple>

namespace lockstep::internal::launch {

namespace {

/// A core's topology as the kernel reports it; -1 if unknown.
int topology(int core, const char* what) {
  std::istringstream file(
      read_system_file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/{}", core, what)));
  int number = -1;
  return file >> number ? number : -1;
}

}  // namespace

std::vector<int> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  std::vector<std::tuple<int, int, int>> places;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set))
      places.emplace_back(topology(core, "physical_package_id"), topology(core, "core_id"), core);
  std::sort(places.begin(), places.end());
  std::vector<int> cores;
  for (const auto& place : places) cores.push_back(std::get<2>(place));
  return cores;
}

std::vector<int> share_of_cores(const std::vector<int>& cores, int index, int parts) {
  const auto count = static_cast<std::ptrdiff_t>(cores.size());
  if (count < parts) return {};
  return {cores.begin() + index * count / parts, cores.begin() + (index + 1) * count / parts};
}

void pin_to(const std::vector<int>& cores) {
  if (cores.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : cores) CPU_SET(core, &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

int threads_per_worker(int workers) {
  if (const char* chosen = std::getenv("OMP_NUM_THREADS"))
    if (const int threads = std::atoi(chosen); threads > 0) return threads;
  return std::max(1, static_cast<int>(usable_cores().size()) / workers);
}

}  // namespace lockstep::internal::launch
