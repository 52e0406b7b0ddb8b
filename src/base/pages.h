// Memory straight from the kernel.
#pragma once

#include <cstddef>
#include <memory>

namespace lockstep {

/// Zeroed pages of this process's own, which cost nothing until they are touched; null where there
/// is no room. Unmapped with the last copy.
std::shared_ptr<std::byte> map_pages(std::size_t bytes);

}  // namespace lockstep
