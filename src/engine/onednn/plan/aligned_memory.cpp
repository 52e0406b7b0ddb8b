#include "engine/onednn/plan/aligned_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace lockstep::internal::engine::onednn {

AlignedMemory::AlignedMemory(std::size_t bytes) : bytes_(bytes) {
  constexpr std::size_t kPage = 2 << 20;
  const std::size_t rounded = (bytes + kPage - 1) / kPage * kPage;
  if (rounded == 0) return;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, rounded)));
  if (!data_) throw std::bad_alloc();
  ::madvise(data_.get(), rounded, MADV_HUGEPAGE);  // optional: errors are ignored
  std::memset(data_.get(), 0, rounded);
}

}  // namespace lockstep::internal::engine::onednn
