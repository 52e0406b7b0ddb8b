// Findings about cores, vector units, memory and limits.
#include "launch/hosts/machine.h"

#include "base/text.h"
#include "base/vector_unit.h"
#include "cli/doctor/finding.h"
#include "comm/kernels.h"
#include "launch/hosts/cores.h"

#include <fmt/format.h>

#include <sys/resource.h>
#include <sys/statvfs.h>

#include <cstdlib>

namespace lockstep::internal::cli {

namespace {

constexpr double kGiga = 1e9;
constexpr std::uint64_t kBytesPerWorker = 256ull << 20;

Finding plain(std::string what, std::string value, std::optional<double> number = {}) {
  return {std::move(what), std::move(value), number, Finding::State::fine, {}};
}

std::string gigabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / kGiga);
}

Finding core_count(const launch::Cores& cores) {
  std::string value = fmt::format("{} usable of {}", cores.usable(), cores.online);
  if (cores.allowed < cores.online) value += fmt::format(", {} allowed", cores.allowed);
  if (cores.quota)
    value += fmt::format(", {:.2f} cores of CPU time from the control group", *cores.quota);
  Finding finding = plain("cores", value, cores.usable());
  if (cores.quota && cores.usable() < cores.allowed)
    finding.warn(
        fmt::format("the control group throttles more than {0} busy threads: choose "
                    "--workers and --threads so that they use at most {0}",
                    cores.usable()));
  return finding;
}

Finding workload(const launch::Cores& cores, int workers) {
  const int threads = launch::threads_per_worker(workers);
  Finding finding = plain(
      "workers", fmt::format("{} with {} thread{} each", workers, threads, threads == 1 ? "" : "s"),
      workers);
  if (workers * threads > cores.usable())
    finding.warn(
        fmt::format("{} threads on {} usable core{} take turns, so waiting ranks wait longer: "
                    "expect overhead, not speed-up",
                    workers * threads, cores.usable(), cores.usable() == 1 ? "" : "s"));
  return finding;
}

Finding vector_instructions() {
  std::vector<std::string> units;
  for (VectorUnit unit : vector_units())
    if (unit != VectorUnit::plain) units.emplace_back(name_of(unit));
  return plain("vector units",
               fmt::format("{}; reductions use the {} kernels",
                           units.empty() ? "none" : enumerate(units), comm::kernels().name));
}

Finding memory(int workers) {
  const launch::MachineMemory memory = launch::find_memory();
  std::string value = fmt::format("{} free of {}", gigabytes(memory.free), gigabytes(memory.total));
  if (memory.limit) value += fmt::format(", limited to {}", gigabytes(*memory.limit));
  Finding finding = plain("memory", value, static_cast<double>(memory.free));
  if (memory.free < kBytesPerWorker * static_cast<std::uint64_t>(workers))
    finding.warn(
        fmt::format("{} workers may not fit: end other programs, raise the limit or use "
                    "fewer workers",
                    workers));
  return finding;
}

/// A network transport has a data and a control connection to every peer, shm has a pidfd per peer;
/// the program needs descriptors of its own too.
std::uint64_t files_needed(int workers) {
  return 3 * static_cast<std::uint64_t>(workers) + 64;
}

Finding open_files(int workers) {
  struct rlimit limit {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const bool unlimited = limit.rlim_cur == RLIM_INFINITY;
  Finding finding =
      plain("open files", unlimited ? "unlimited" : fmt::format("up to {}", limit.rlim_cur),
            static_cast<double>(limit.rlim_cur));
  const std::uint64_t needed = files_needed(workers);
  if (unlimited || limit.rlim_cur >= needed) return finding;
  return finding.warn(fmt::format("a worker of {} may need {}: raise it with ulimit -n {}{}",
                                  workers, needed, needed,
                                  limit.rlim_max < needed ? ", which needs an administrator" : ""));
}

Finding shared_memory_folder() {
  struct statvfs status {};
  if (::statvfs("/dev/shm", &status) != 0)
    return plain("/dev/shm", "none (Lockstep does not need it; MPI and PyTorch do)");
  const std::uint64_t bytes = std::uint64_t{status.f_blocks} * status.f_frsize;
  return plain("/dev/shm",
               fmt::format("{} (Lockstep does not need it; MPI and PyTorch do)", gigabytes(bytes)),
               static_cast<double>(bytes));
}

}  // namespace

std::vector<Finding> examine_machine(int workers) {
  const launch::Cores cores = launch::find_cores();
  return {core_count(cores), workload(cores, workers), vector_instructions(),
          memory(workers),   shared_memory_folder(),   open_files(workers)};
}

}  // namespace lockstep::internal::cli
