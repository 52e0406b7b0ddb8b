// Arena: places all buffers of a plan in one block of memory. Buffers that are never in use at the
// same time may overlap.
#pragma once

#include <cstddef>
#include <vector>

namespace lockstep::internal::engine::onednn {

class Arena {
 public:
  static constexpr std::size_t kAlignment = 64;  ///< of every buffer, for oneDNN's kernels

  /// Adds a buffer and returns its number.
  std::size_t reserve(std::size_t bytes);

  /// The buffer is in use in this step, and in all steps between two uses.
  void use(std::size_t buffer, std::size_t step);

  /// Places all buffers: large ones first, each at the lowest free offset.
  void place();

  /// REQUIRES: place() was called after the last change.
  std::size_t offset(std::size_t buffer) const { return buffers_[buffer].offset; }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Buffer {
    std::size_t bytes = 0;
    std::size_t first = 0;  ///< first step of use
    std::size_t last = 0;   ///< last step of use
    bool used = false;
    std::size_t offset = 0;
  };

  std::size_t lowest_place(const Buffer& buffer, const std::vector<const Buffer*>& placed) const;

  std::vector<Buffer> buffers_;
  std::size_t bytes_ = 0;
};

}  // namespace lockstep::internal::engine::onednn
