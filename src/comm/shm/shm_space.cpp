#include "comm/shm/shm_space.h"

#include <lockstep/error.h>

#include "base/descriptors.h"
#include "base/files.h"
#include "base/free_memory.h"
#include "base/text.h"
#include "comm/shm/segment.h"

#include <fmt/format.h>

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

namespace lockstep::internal::comm {

ShmSpace::ShmSpace(RunContext run, const Membership& membership, const WaitLimit& limit)
    : run_(std::move(run)),
      membership_(membership),
      rank_(membership.rank),
      size_(membership.size()) {
  const std::string key = fmt::format("shm/{}", membership_.group);
  if (rank_ == 0)
    make_blackboard(key);
  else
    map_blackboard(key, limit);
}

void ShmSpace::make_blackboard(const std::string& key) {
  // Not reserved: most channels of a large group are never used.
  NewSegment segment = make_segment(GroupMemory::bytes_for(size_), false);
  if (!segment.memory && is_descriptor_shortage(errno))
    throw DescriptorShortageError("make the group's shared memory", errno);
  if (!segment.memory)
    throw Error(fmt::format(
        "[shm] rank {} could not make the group's shared memory: {}. Look at the limits "
        "on memory and on the size of files (ulimit -f)",
        membership_.label(), last_system_error()));
  GroupMemory::prepare(segment.memory.get(), membership_.labels);
  memory_ = segment.memory;
  run_.store->set(key, fmt::format("{} {}", ::getpid(), segment.fd.get()));
  group_memory_fd_ = std::move(segment.fd);
}

void ShmSpace::map_blackboard(const std::string& key, const WaitLimit& limit) {
  const std::vector<std::string> place =
      lockstep::internal::split(get_from(run_, membership_, 0, key, limit), ' ');
  if (place.size() != 2) throw Error(fmt::format("[shm] the store's '{}' is not readable", key));
  constexpr int kHighest = std::numeric_limits<int>::max();
  const std::string owner = fmt::format("rank {}", membership_.labels[0]);
  memory_ =
      map_segment(static_cast<int>(parse_integer(place[0], owner + "'s pid", 1, kHighest)),
                  static_cast<int>(parse_integer(place[1], owner + "'s segment", 0, kHighest)),
                  GroupMemory::bytes_for(size_), owner);
}

OwnRegion ShmSpace::make_region(std::size_t bytes) {
  // All ranks allocate at the same time, and a memfd has no limit of its own: without this check
  // the kernel would kill some process.
  if (bytes > free_memory() / static_cast<std::uint64_t>(size_)) return {};
  NewSegment segment = make_segment(bytes, true);
  if (!segment.memory) return {nullptr, {0, static_cast<std::uint64_t>(errno)}};
  const int fd = segment.fd.get();
  open_regions_.emplace(fd, std::move(segment.fd));
  return {segment.memory, {static_cast<std::uint64_t>(::getpid()), static_cast<std::uint64_t>(fd)}};
}

std::shared_ptr<std::byte> ShmSpace::map_region(int rank, RegionHandle handle, std::size_t bytes) {
  return map_segment(static_cast<int>(handle.first), static_cast<int>(handle.second), bytes,
                     group_memory().describe(rank));
}

void ShmSpace::seal_region(RegionHandle handle) {
  if (handle.first != 0) open_regions_.erase(static_cast<int>(handle.second));
}

void ShmSpace::all_joined() {
  group_memory_fd_.reset();
  // Watched from now on, so that a later process with the same id is not mistaken for a dead rank.
  for (int rank = 0; rank < size_; ++rank)
    processes_.emplace_back(
        static_cast<int>(::syscall(SYS_pidfd_open, group_memory().rank_state(rank).pid, 0)));
}

std::optional<Departure> ShmSpace::gone(int rank) const {
  const RankState& cell = group_memory().rank_state(rank);
  const Presence presence = cell.presence.load(std::memory_order_acquire);
  if (presence == Presence::left) return Departure::left;
  if (rank == rank_) return std::nullopt;
  if (presence == Presence::expected) return gone_before_it_joined(rank);
  const UniqueFd* process =
      processes_.empty() ? nullptr : &processes_[static_cast<std::size_t>(rank)];
  if (process == nullptr || !*process) {
    // Still joining, or no descriptor left: only the process id can be used.
    if (::kill(cell.pid, 0) != 0 && errno == ESRCH) return Departure::died;
    return std::nullopt;
  }
  pollfd ended{process->get(), POLLIN, 0};
  if (::poll(&ended, 1, 0) > 0) return Departure::died;
  return std::nullopt;
}

/// Only the launcher knows. Asked once per second, because many ranks may be waiting at start.
std::optional<Departure> ShmSpace::gone_before_it_joined(int rank) const {
  const auto [next, is_first] = next_looks_.try_emplace(rank, Deadline::after(kLookAfter));
  if (!is_first && next->second.passed()) {
    next->second = Deadline::after(kLookAfter);
    const int member = membership_.members[static_cast<std::size_t>(rank)];
    if (run_.store->ending_of(member, {})) never_joined_.insert(rank);
  }
  if (never_joined_.count(rank) == 0) return std::nullopt;
  return Departure::died;
}

std::string ShmSpace::ending_of(int rank, std::chrono::milliseconds timeout) const {
  return run_.store->ending_of(membership_.members[static_cast<std::size_t>(rank)], timeout)
      .value_or("");
}

std::unique_ptr<SharedSpace> ShmSpace::split(const Membership& part, const WaitLimit& limit) {
  return std::make_unique<ShmSpace>(run_, part, limit);
}

}  // namespace lockstep::internal::comm
