// Memory for large arrays of floats, initialised to zero.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace lockstep::internal::engine::onednn {

/// Uses huge pages if the kernel has them, which saves a large model some percent of its time.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  explicit AlignedMemory(std::size_t bytes);

  std::byte* data() const { return data_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };

  std::unique_ptr<std::byte, Free> data_;
  std::size_t bytes_ = 0;
};

}  // namespace lockstep::internal::engine::onednn
