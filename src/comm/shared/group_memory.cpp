#include "comm/shared/group_memory.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <new>

namespace lockstep::internal::comm {

namespace {

constexpr std::uint64_t kMagic = 0x33706574736b636full;  // change it with the layout

constexpr std::size_t pages(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  return (bytes + kPage - 1) / kPage * kPage;
}

std::size_t cells_at() {
  return pages(sizeof(GroupHeader));
}
std::size_t channels_at(std::size_t size) {
  return cells_at() + pages(size * sizeof(RankState));
}
std::size_t staging_at(std::size_t size) {
  return channels_at(size) + pages(kTraffics * size * size * sizeof(Channel));
}

}  // namespace

std::size_t GroupMemory::bytes_for(int size) {
  const auto ranks = static_cast<std::size_t>(size);
  return staging_at(ranks) + ranks * kStagingBytes;
}

void GroupMemory::prepare(std::byte* memory, const std::vector<int>& labels) {
  auto* header = new (memory) GroupHeader;
  header->size = labels.size();
  header->magic = kMagic;
  // The initial state of rank states and channels is all zero, which the memory already is.
  const GroupMemory group_memory(memory, static_cast<int>(labels.size()));
  for (std::size_t rank = 0; rank < labels.size(); ++rank)
    group_memory.rank_state(static_cast<int>(rank)).label = labels[rank];
}

GroupMemory::GroupMemory(std::byte* memory, int size) : memory_(memory), size_(size) {
  if (header().magic != kMagic || header().size != static_cast<std::uint64_t>(size))
    throw Error(fmt::format(
        "the group's shared memory was made for {} ranks by another version or another run, this "
        "rank expects {}: start all ranks with the same program and world size",
        header().size, size));
}

GroupHeader& GroupMemory::header() const {
  return *reinterpret_cast<GroupHeader*>(memory_);
}

RankState& GroupMemory::rank_state(int rank) const {
  return reinterpret_cast<RankState*>(memory_ + cells_at())[rank];
}

Channel& GroupMemory::channel(int from, int to, Traffic traffic) const {
  auto* channels =
      reinterpret_cast<Channel*>(memory_ + channels_at(static_cast<std::size_t>(size_)));
  const auto pair = static_cast<std::size_t>(from * size_ + to);
  return channels[kTraffics * pair + static_cast<std::size_t>(traffic)];
}

std::byte* GroupMemory::staging(int rank) const {
  return memory_ + staging_at(static_cast<std::size_t>(size_)) +
         static_cast<std::size_t>(rank) * kStagingBytes;
}

std::string GroupMemory::describe(int rank) const {
  const RankState& other = rank_state(rank);
  if (other.presence.load(std::memory_order_acquire) == Presence::expected)
    return fmt::format("rank {} (which never joined)", other.label);
  return fmt::format("rank {} (pid {} on {})", other.label, other.pid, other.host.data());
}

}  // namespace lockstep::internal::comm
