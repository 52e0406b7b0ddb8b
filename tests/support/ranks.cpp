#include "support/ranks.h"

#include <lockstep/init.h>

#include "comm/gloo/gloo_wire.h"
#include "comm/group_core.h"
#include "comm/hierarchy/hierarchical_transport.h"
#include "launch/job.h"
#include "launch/rendezvous/join_run.h"
#include "support/mpi_world.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cstdio>
#include <cstring>

namespace lockstep::internal::testing {

namespace {

/// One message per rank, in memory that forked ranks share with the test.
class Messages {
 public:
  explicit Messages(int size) : size_(static_cast<std::size_t>(size)) {
    memory_ = static_cast<char*>(::mmap(nullptr, size_ * kLength, PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  ~Messages() { ::munmap(memory_, size_ * kLength); }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  char* of(int rank) { return memory_ + static_cast<std::size_t>(rank) * kLength; }
  void write(int rank, const std::string& text) {
    std::snprintf(of(rank), kLength, "%s", text.c_str());
  }

 private:
  static constexpr std::size_t kLength = 4096;
  std::size_t size_;
  char* memory_;
};

/// Pairs of ranks, each on its own simulated host; the last rank is alone if their number is odd.
Group join_pretended_hosts(const GroupOptions& options) {
  const Deadline deadline = Deadline::after(options.rendezvous_timeout);
  const launch::Joined joined = launch::join_run(options, deadline);
  std::vector<int> leaders;
  for (int rank = 0; rank < joined.world.size(); ++rank) leaders.push_back(rank / 2 * 2);
  return comm::make_group(std::make_unique<comm::HierarchicalTransport>(
                              joined.run, joined.world, comm::gloo_wire(), leaders, deadline),
                          options);
}

Group join(RankKind kind, GroupOptions options) {
  const bool alone = std::getenv("LOCKSTEP_WORLD_SIZE") == std::string("1");
  if (kind == RankKind::hosts && !alone) return join_pretended_hosts(options);
  options.transport = kind == RankKind::gloo ? "gloo" : "shm";
  return init(options);
}

int rank_of_this_process() {
  return std::atoi(std::getenv("LOCKSTEP_RANK"));
}

bool by_mpirun(RankKind kind) {
  return kind == RankKind::mpi || kind == RankKind::mpi_hosts;
}

MpiGroups groups_of(RankKind kind) {
  return kind == RankKind::mpi ? MpiGroups::flat : MpiGroups::pretended_hosts;
}

}  // namespace

std::vector<RankKind> kinds(int most_ranks) {
  if (!MpiWorld::there())
    return {RankKind::thread, RankKind::process, RankKind::gloo, RankKind::hosts};
  const int size = MpiWorld::instance().size();
  if (size < most_ranks) return {};
  if (size == 4) return {RankKind::mpi, RankKind::mpi_hosts};
  return {RankKind::mpi};
}

std::vector<int> world_sizes() {
  if (MpiWorld::there()) return {MpiWorld::instance().size()};
  return {1, 2, 3, 4, 5, 8};
}

std::vector<RankKind> kinds_that_may_die() {
  if (MpiWorld::there()) return {};
  return {RankKind::process, RankKind::gloo, RankKind::hosts};
}

std::string name_of(RankKind kind) {
  switch (kind) {
    case RankKind::thread:
      return "thread";
    case RankKind::process:
      return "shm";
    case RankKind::gloo:
      return "gloo";
    case RankKind::hosts:
      return "hosts";
    case RankKind::mpi:
      return "mpi";
    case RankKind::mpi_hosts:
      return "mpihosts";
  }
  return "unknown";
}

void run_ranks(RankKind kind, int size, const std::function<void(Group)>& body,
               const GroupOptions& options) {
  if (kind == RankKind::thread) return run_threads(size, body, options);
  if (by_mpirun(kind)) {
    MpiWorld& world = MpiWorld::instance();
    const auto errors = world.run(groups_of(kind), size, body, options);
    const auto rank = static_cast<std::size_t>(world.rank());
    if (rank < errors.size() && !errors[rank].empty()) ADD_FAILURE() << errors[rank];
    return;
  }
  launch::JobResult result = launch::run_forked({.workers = size}, [&] {
    const std::string error = message_of([&] { body(join(kind, options)); });
    if (!error.empty())
      std::fprintf(stderr, "rank %d: %s\n", rank_of_this_process(), error.c_str());
    return error.empty() && !::testing::Test::HasFailure() ? 0 : 1;
  });
  if (result.first_failure) ADD_FAILURE() << result.first_failure->text();
}

std::vector<std::string> errors_of_ranks(RankKind kind, int size,
                                         const std::function<void(Group)>& body,
                                         const GroupOptions& options) {
  if (by_mpirun(kind)) return MpiWorld::instance().run(groups_of(kind), size, body, options);
  Messages messages(size);
  if (kind == RankKind::thread) {
    run_threads(
        size,
        [&](const Group& group) { messages.write(group.rank(), message_of([&] { body(group); })); },
        options);
  } else {
    for (int rank = 0; rank < size; ++rank) messages.write(rank, "(died)");
    launch::run_forked({.workers = size}, [&] {
      messages.write(rank_of_this_process(), message_of([&] { body(join(kind, options)); }));
      return 0;
    });
  }
  std::vector<std::string> texts;
  for (int rank = 0; rank < size; ++rank) texts.emplace_back(messages.of(rank));
  return texts;
}

}  // namespace lockstep::internal::testing
