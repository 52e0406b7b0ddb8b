#include "base/pages.h"

#include <sys/mman.h>

namespace lockstep::internal {

std::shared_ptr<std::byte> map_pages(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(memory), [bytes](std::byte* pages) { ::munmap(pages, bytes); }};
}

}  // namespace lockstep::internal
