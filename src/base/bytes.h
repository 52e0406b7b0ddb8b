// Copying bytes.
#pragma once

#include <cstddef>
#include <cstring>

namespace lockstep::internal {

/// Like memmove, but null pointers are allowed if the length is 0.
inline void copy_bytes(void* to, const void* from, std::size_t count) {
  if (count > 0) std::memmove(to, from, count);
}

}  // namespace lockstep::internal
