#include "jobs.h"

#include <lockstep/error.h>
#include <lockstep/init.h>

#include "launch/job.h"

#include <fmt/format.h>

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>

namespace lockstep::internal::benchmarks {

namespace {

using Make = std::unique_ptr<Contender> (*)(const Setting&);

class GroupRanks : public Ranks {
 public:
  explicit GroupRanks(Group group) : group_(std::move(group)) {}

  int rank() const override { return group_.rank(); }
  int size() const override { return group_.size(); }
  void barrier() override { group_.barrier(); }
  double max(double value) override {
    group_.all_reduce(std::span<double>(&value, 1), ReduceOp::max);
    return value;
  }

 private:
  Group group_;
};

/// Shared memory for a Round, which the ranks of a forked job write and this process reads.
class SharedRound {
 public:
  SharedRound() {
    void* memory =
        ::mmap(nullptr, sizeof(Round), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Error("no memory for a round's result");
    round_ = new (memory) Round;
  }
  ~SharedRound() { ::munmap(round_, sizeof(Round)); }
  SharedRound(const SharedRound&) = delete;
  SharedRound& operator=(const SharedRound&) = delete;

  Round& operator*() const { return *round_; }

 private:
  Round* round_;
};

/// An empty directory, removed with this object.
class ScratchDirectory {
 public:
  ScratchDirectory() : path_(std::filesystem::temp_directory_path() / "lockstep-peers-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr)
      throw Error(fmt::format("cannot make the directory {}", path_));
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Round run_rank(Group group, Make make, const JobPlan& plan, const std::string& directory) {
  GroupRanks ranks(group);
  const auto contender = make({group, plan.bytes / sizeof(float), directory});
  const Round round = measure_round(*contender, ranks, plan.seconds);
  // No rank closes its connections before all ranks are done.
  ranks.barrier();
  return round;
}

/// The group of a forked rank. Throws Error if the environment selects another transport.
Group join(const std::string& transport) {
  GroupOptions options;
  options.transport = transport;
  Group group = init(options);
  if (group.transport() != transport)
    throw Error(fmt::format("asked for the transport {}, got {}", transport, group.transport()));
  return group;
}

/// Runs the ranks as threads of this process.
Round run_in_threads(Make make, const JobPlan& plan) {
  const ScratchDirectory directory;
  Round round;
  run_threads(plan.workers, [&](Group group) {
    const int rank = group.rank();
    const Round mine = run_rank(std::move(group), make, plan, directory.path());
    if (rank == 0) round = mine;
  });
  return round;
}

Round run_job(Make make, const std::string& transport, const JobPlan& plan) {
  const SharedRound shared;
  const ScratchDirectory directory;
  const launch::JobResult job = launch::run_forked({.workers = plan.workers}, [&] {
    try {
      const Round mine = run_rank(join(transport), make, plan, directory.path());
      // All ranks write the same result.
      *shared = mine;
      return 0;
    } catch (const std::exception& error) {
      fmt::print(stderr, "all_reduce: {}\n", error.what());
      return 1;
    }
  });
  if (job.code() != 0) throw Error(job.first_failure ? job.first_failure->text() : "interrupted");
  return *shared;
}

Round run_mpi(const JobPlan& plan, bool yield) {
  // Shared memory, which Open MPI uses on one host by default; naming it rules out the network. The
  // ranks are not bound to cores, like those of the other contenders.
  const std::string command = fmt::format(
      "{} --allow-run-as-root --oversubscribe --bind-to none"
      " --mca btl self,vader --mca oob_tcp_if_include lo --mca mpi_yield_when_idle {} -n {} {} {} "
      "{}",
      LOCKSTEP_MPIRUN, yield ? 1 : 0, plan.workers, LOCKSTEP_MPI_PROGRAM, plan.bytes, plan.seconds);
  std::FILE* output = ::popen(command.c_str(), "r");
  if (output == nullptr) throw Error(fmt::format("cannot start '{}'", command));
  Round round;
  unsigned long long wrong = 0;
  const int fields = std::fscanf(output, "%lf %llu", &round.seconds, &wrong);
  if (::pclose(output) != 0 || fields != 2) throw Error(fmt::format("'{}' failed", command));
  round.wrong = wrong;
  return round;
}

/// `transport` is that of the ranks' group, which Lockstep's contender uses.
Entry forked(const std::string& name, const std::string& family, Make make,
             const std::string& transport = "shm") {
  return {name, family, [=](const JobPlan& plan) { return run_job(make, transport, plan); }};
}

}  // namespace

std::vector<Entry> all_entries() {
  std::vector<Entry> entries{
      forked("lockstep shm", "lockstep", make_lockstep),
      {"lockstep thread", "thread",
       [](const JobPlan& plan) { return run_in_threads(make_lockstep, plan); }},
      forked("lockstep gloo", "lockstep gloo", make_lockstep, "gloo"),
      forked("gloo ring", "gloo", make_gloo_ring),
      forked("gloo bcube", "gloo", make_gloo_bcube),
      forked("gloo ring chunked", "gloo", make_gloo_ring_chunked),
      forked("gloo halving doubling", "gloo", make_gloo_halving_doubling),
      // Polling is faster if every rank has a core of its own.
      {"open mpi polling", "mpi", [](const JobPlan& plan) { return run_mpi(plan, false); }},
      {"open mpi yielding", "mpi", [](const JobPlan& plan) { return run_mpi(plan, true); }},
      forked("memcpy", "memcpy", make_memcpy),
      forked("one pass", "one pass", make_one_pass)};
#ifdef LOCKSTEP_C10D
  entries.push_back(forked("c10d gloo", "c10d", make_c10d));
#endif
  return entries;
}

}  // namespace lockstep::internal::benchmarks
