// Memory directly from the kernel.
#pragma once

#include <cstddef>
#include <memory>

namespace lockstep::internal {

/// Zeroed private pages, which take no memory until they are touched; null if there is not enough.
/// Unmapped with the last copy.
std::shared_ptr<std::byte> map_pages(std::size_t bytes);

}  // namespace lockstep::internal
