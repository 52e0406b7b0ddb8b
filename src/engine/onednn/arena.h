// Arena: gives every buffer of a plan its place in one block of memory. Buffers that are never
// needed at the same time may share bytes.
#pragma once

#include <cstddef>
#include <vector>

namespace lockstep::engine::onednn {

class Arena {
 public:
  static constexpr std::size_t kAlignment = 64;  ///< of every buffer, as oneDNN's kernels like it

  /// A new buffer; returns its number.
  std::size_t reserve(std::size_t bytes);

  /// The buffer is in use in this step, and between it and all others that it is used in.
  void use(std::size_t buffer, std::size_t step);

  /// Decides where all buffers lie. Large ones first, each as low as what is in use with it allows.
  void place();

  /// REQUIRES: place() was called after the last change.
  std::size_t offset(std::size_t buffer) const { return buffers_[buffer].offset; }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Buffer {
    std::size_t bytes = 0;
    std::size_t first = 0;  ///< steps in which it is in use, both included
    std::size_t last = 0;
    bool used = false;
    std::size_t offset = 0;
  };

  std::size_t lowest_place(const Buffer& buffer, const std::vector<const Buffer*>& placed) const;

  std::vector<Buffer> buffers_;
  std::size_t bytes_ = 0;
};

}  // namespace lockstep::engine::onednn
