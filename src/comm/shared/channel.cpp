#include "comm/shared/channel.h"

#include <lockstep/error.h>

#include <algorithm>
#include <cstring>

namespace lockstep::internal::comm {

std::size_t used(const Channel& channel) {
  const std::uint64_t written = channel.written.load(std::memory_order_seq_cst);
  const std::uint64_t bytes = written - channel.read.load(std::memory_order_seq_cst);
  if (bytes > Channel::kCapacity)
    throw Error(
        "the memory shared by the ranks was overwritten: look for a rank that writes out of "
        "bounds");
  return static_cast<std::size_t>(bytes);
}

std::size_t write_some(Channel& channel, std::span<const std::byte> data) {
  const std::uint64_t written = channel.written.load(std::memory_order_relaxed);
  const std::size_t amount = std::min(Channel::kCapacity - used(channel), data.size());
  const std::size_t at = written % Channel::kCapacity;
  const std::size_t before_end = std::min(amount, Channel::kCapacity - at);
  if (amount == 0) return 0;
  std::memcpy(channel.bytes.data() + at, data.data(), before_end);
  std::memcpy(channel.bytes.data(), data.data() + before_end, amount - before_end);
  channel.written.store(written + amount, std::memory_order_seq_cst);
  return amount;
}

std::size_t peek(const Channel& channel, std::span<std::byte> out) {
  const std::size_t amount = std::min(used(channel), out.size());
  const std::size_t at = channel.read.load(std::memory_order_relaxed) % Channel::kCapacity;
  const std::size_t before_end = std::min(amount, Channel::kCapacity - at);
  if (amount == 0) return 0;
  std::memcpy(out.data(), channel.bytes.data() + at, before_end);
  std::memcpy(out.data() + before_end, channel.bytes.data(), amount - before_end);
  return amount;
}

std::size_t read_some(Channel& channel, std::span<std::byte> out) {
  const std::size_t amount = peek(channel, out);
  channel.read.store(channel.read.load(std::memory_order_relaxed) + amount,
                     std::memory_order_seq_cst);
  return amount;
}

}  // namespace lockstep::internal::comm
