// Copying bytes.
#pragma once

#include <cstddef>
#include <cstring>

namespace lockstep {

/// Like memmove, but no bytes may also be copied from or to a null pointer.
inline void copy_bytes(void* to, const void* from, std::size_t count) {
  if (count > 0) std::memmove(to, from, count);
}

}  // namespace lockstep
