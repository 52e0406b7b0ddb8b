#include <lockstep/error.h>
#include <lockstep/group.h>

#include "base/thread.h"
#include "base/thread_annotations.h"
#include "comm/group_core.h"
#include "comm/shared/shared_transport.h"
#include "comm/thread/thread_space.h"

#include <fmt/format.h>

#include <exception>
#include <vector>

namespace lockstep {

using namespace internal;

namespace {

Group join(const std::shared_ptr<comm::ThreadWorld>& world, int rank, const GroupOptions& options) {
  const comm::Membership membership = comm::Membership::world(rank, world->group_memory().size());
  return comm::make_group(std::make_unique<comm::SharedTransport>(
                              std::make_unique<comm::ThreadSpace>(world), membership,
                              Deadline::after(options.rendezvous_timeout)),
                          options);
}

/// Keeps the first error: later ones are usually its consequences.
class FirstError {
 public:
  void keep(std::exception_ptr error) {
    Lock lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  void rethrow() {
    Lock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  Mutex mutex_;
  std::exception_ptr error_ GUARDED_BY(mutex_);
};

}  // namespace

void run_threads(int size, const std::function<void(Group)>& body, const GroupOptions& options) {
  if (size < 1) throw UsageError(fmt::format("a group needs at least one rank, not {}", size));
  auto world = std::make_shared<comm::ThreadWorld>(comm::Membership::world(0, size).labels);
  FirstError failure;
  auto run_rank = [&](int rank) {
    // The error is stored before the rank leaves its group, or its peers could report first that it
    // is lost.
    std::optional<Group> group;
    try {
      group = join(world, rank, options);
      body(*group);
    } catch (...) {
      failure.keep(std::current_exception());
    }
  };
  std::vector<Thread> threads;
  for (int rank = 1; rank < size; ++rank)
    threads.emplace_back("rank", [&, rank] { run_rank(rank); });
  run_rank(0);
  threads.clear();
  failure.rethrow();
}

}  // namespace lockstep
