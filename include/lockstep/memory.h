// Memory that every rank of a group can reach.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace lockstep {

/// A block from Group::allocate: zeroed, aligned to a page. Collectives work on it in place; with
/// `direct` they read and write the peers' blocks without a copy. A small value; the block is freed
/// with its last copy, and may outlive the group it came from.
class Memory {
 public:
  Memory() = default;
  Memory(std::shared_ptr<void> owner, std::byte* data, std::size_t bytes)
      : owner_(std::move(owner)), data_(data), bytes_(bytes) {}

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  /// The block as elements of type T, as many as fit.
  template <typename T>
  std::span<T> as() const& {
    return {reinterpret_cast<T*>(data_), bytes_ / sizeof(T)};
  }
  /// Keep the Memory: the span of a temporary one would point to a freed block.
  template <typename T>
  std::span<T> as() const&& = delete;

 private:
  std::shared_ptr<void> owner_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace lockstep
