#include "comm/shm/shm_space.h"

#include <lockstep/error.h>

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

namespace lockstep::comm {

ShmSpace::ShmSpace(Store& store, const std::string& name, int rank, int size,
                   const Deadline& deadline)
    : rank_(rank), size_(size) {
  const std::string key = fmt::format("shm/{}", name);
  const std::size_t bytes = Blackboard::bytes_for(size);
  if (rank == 0) {
    // Not reserved: most of the channels between a large group's ranks are never used.
    NewSegment segment = make_segment(bytes, false);
    if (!segment.memory) throw Error("[shm] rank 0 could not make the group's shared memory");
    Blackboard::prepare(segment.memory.get(), size);
    memory_ = segment.memory;
    store.set(key, fmt::format("{} {}", ::getpid(), segment.fd.get()));
    blackboard_fd_ = std::move(segment.fd);
  } else {
    const std::vector<std::string> place = split(store.get(key, deadline), ' ');
    if (place.size() != 2) throw Error(fmt::format("[shm] the store's '{}' is not readable", key));
    constexpr int kHighest = std::numeric_limits<int>::max();
    memory_ =
        map_segment(static_cast<int>(parse_integer(place[0], "rank 0's pid", 1, kHighest)),
                    static_cast<int>(parse_integer(place[1], "rank 0's segment", 0, kHighest)),
                    bytes, "rank 0");
  }
}

OwnRegion ShmSpace::make_region(std::size_t bytes) {
  // All ranks ask at once, and a memfd has no limit but the machine's: the kernel would end some
  // process.
  if (bytes > free_memory() / static_cast<std::uint64_t>(size_)) return {};
  NewSegment segment = make_segment(bytes, true);
  if (!segment.memory) return {};
  const int fd = segment.fd.get();
  open_regions_.emplace(fd, std::move(segment.fd));
  return {segment.memory, {static_cast<std::uint64_t>(::getpid()), static_cast<std::uint64_t>(fd)}};
}

std::shared_ptr<std::byte> ShmSpace::map_region(int rank, RegionHandle handle, std::size_t bytes) {
  return map_segment(static_cast<int>(handle.first), static_cast<int>(handle.second), bytes,
                     blackboard().describe(rank));
}

void ShmSpace::seal_region(RegionHandle handle) {
  open_regions_.erase(static_cast<int>(handle.second));
}

void ShmSpace::all_joined() {
  blackboard_fd_.reset();
  // Watched from now on, so that a later process with a dead rank's number is not taken for it.
  for (int rank = 0; rank < size_; ++rank)
    processes_.emplace_back(
        static_cast<int>(::syscall(SYS_pidfd_open, blackboard().cell(rank).pid, 0)));
}

std::optional<Departure> ShmSpace::gone(int rank) const {
  const RankCell& cell = blackboard().cell(rank);
  const Presence presence = cell.presence.load(std::memory_order_acquire);
  if (presence == Presence::left) return Departure::left;
  if (presence == Presence::expected || rank == rank_) return std::nullopt;
  const UniqueFd* process =
      processes_.empty() ? nullptr : &processes_[static_cast<std::size_t>(rank)];
  if (process == nullptr || !*process) {
    // Still joining, or no descriptors left: the number alone has to do.
    if (::kill(cell.pid, 0) != 0 && errno == ESRCH) return Departure::died;
    return std::nullopt;
  }
  pollfd ended{process->get(), POLLIN, 0};
  if (::poll(&ended, 1, 0) > 0) return Departure::died;
  return std::nullopt;
}

}  // namespace lockstep::comm
