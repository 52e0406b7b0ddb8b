#include "cli/bench/start.h"

#include <lockstep/error.h>
#include <lockstep/init.h>

#include "base/temporary_file.h"
#include "cli/bench/exchange.h"
#include "cli/command.h"
#include "cli/this_program.h"
#include "cli/waiting_notice.h"
#include "launch/job.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace lockstep::internal::cli {

namespace {

/// Shared memory in which rank 0 of a forked job passes on its results, or a usage error.
class SharedResults {
 public:
  explicit SharedResults(std::size_t most) : most_(most) {
    header_ = static_cast<Header*>(
        ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (header_ == MAP_FAILED) throw Error("no memory for the results");
  }
  ~SharedResults() { ::munmap(header_, bytes()); }
  SharedResults(const SharedResults&) = delete;
  SharedResults& operator=(const SharedResults&) = delete;

  void put(const std::vector<BenchResult>& results) {
    header_->count = std::min(results.size(), most_);
    std::copy_n(results.begin(), header_->count, first());
  }
  std::vector<BenchResult> get() const { return {first(), first() + header_->count}; }

  void refuse(const char* why) { std::strncpy(header_->refusal, why, kLongestText - 1); }
  /// The usage error; empty if there was none.
  std::string refusal() const { return header_->refusal; }

 private:
  static constexpr std::size_t kLongestText = 1000;
  struct Header {
    std::size_t count;
    char refusal[kLongestText];
  };
  static constexpr std::size_t kFirst = (sizeof(Header) + 63) / 64 * 64;

  std::size_t bytes() const { return kFirst + most_ * sizeof(BenchResult); }
  BenchResult* first() const {
    return reinterpret_cast<BenchResult*>(reinterpret_cast<std::byte*>(header_) + kFirst);
  }

  std::size_t most_;
  Header* header_;
};

std::vector<BenchResult> measure_in_threads(int workers, const BenchPlan& plan) {
  std::vector<BenchResult> results;
  run_threads(workers, [&](const Group& group) {
    const auto mine = measure(group, plan);
    if (group.rank() == 0) results = mine;
  });
  return results;
}

std::vector<BenchResult> measure_in_processes(const std::string& transport, int workers,
                                              const BenchPlan& plan,
                                              const launch::NetworkHosts* hosts) {
  SharedResults shared(plan.most_results());
  const launch::JobResult job = launch::run_forked({.workers = workers, .hosts = hosts}, [&] {
    try {
      GroupOptions options;
      options.transport = transport;
      const Group group = init(options);
      const auto mine = measure(group, plan);
      if (group.rank() == 0) shared.put(mine);
      return kSuccess;
    } catch (const UsageError& error) {  // the same on all ranks: reported once, by the parent
      shared.refuse(error.what());
      return kBadUsage;
    } catch (...) {
      return report_exception("lockstep bench");
    }
  });
  if (!shared.refusal().empty()) throw UsageError(shared.refusal());
  if (job.code() != 0) throw Error(job.first_failure ? job.first_failure->text() : "interrupted");
  return shared.get();
}

/// The ranks of the mpi transport have to be started by mpirun.
std::vector<BenchResult> measure_under_mpirun(const std::string& transport, int workers,
                                              const BenchPlan& plan) {
  const TemporaryFile file;
  const launch::JobResult job = run_this_program_under_mpirun(
      {.workers = workers}, bench_arguments(plan, transport, file.path()));
  if (job.interrupted_by != 0) throw Error("interrupted");
  if (job.first_failure && job.first_failure->code() != kBadUsage)
    throw Error(job.first_failure->text());
  return read_results(file.path());
}

}  // namespace

BenchRun measure_on(const std::string& transport, int workers, const BenchPlan& plan,
                    const launch::NetworkHosts* hosts) {
  if (transport == "thread") return {transport, workers, measure_in_threads(workers, plan)};
  if (needs_mpirun(transport, workers))
    return {transport, workers, measure_under_mpirun(transport, workers, plan)};
  return {transport, workers, measure_in_processes(transport, workers, plan, hosts)};
}

BenchRun measure_as_worker(const std::string& transport, const BenchPlan& plan) {
  GroupOptions options;
  options.transport = transport;
  const Group group = [&] {
    const WaitingNotice notice("lockstep bench");
    return init(options);
  }();
  return {std::string(group.transport()), group.size(), measure(group, plan), group.rank() == 0};
}

}  // namespace lockstep::internal::cli
