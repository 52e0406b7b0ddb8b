// Memory: a block that the ranks of a group share.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace lockstep {

/// A block from Group::allocate(): zeroed and aligned to a page. Collectives work on it in place;
/// with Algorithm::direct they read and write the blocks of other ranks without a copy. A small
/// value: the block is freed with the last copy, and may outlive its group.
class Memory {
 public:
  Memory() = default;
  /// For Lockstep's own use: a block that lives as long as `owner`.
  Memory(std::shared_ptr<void> owner, std::byte* data, std::size_t bytes)
      : owner_(std::move(owner)), data_(data), bytes_(bytes) {}

  /// The first byte.
  std::byte* data() const { return data_; }
  /// The requested size.
  std::size_t bytes() const { return bytes_; }

  /// The block as elements of type T, as many as fit. The Memory must outlive the span.
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
