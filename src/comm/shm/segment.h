// Segment: memory shared by processes of one host. It is a memfd: it has no name in the file
// system, is not limited by the size of /dev/shm, and disappears with the last process that maps
// it, however that process ends. A peer opens it through /proc/<pid>/fd, which the kernel permits
// to the same user only.
#pragma once

#include "base/unique_fd.h"

#include <cstddef>
#include <memory>
#include <string>

namespace lockstep::internal::comm {

/// Makes a segment: zeroed, with its memory reserved. On failure the memory is null, the descriptor
/// is invalid and errno is set.
struct NewSegment {
  UniqueFd fd;
  std::shared_ptr<std::byte> memory;
};
NewSegment make_segment(std::size_t bytes, bool reserve);

/// Maps the segment that process `pid` holds as descriptor `fd`. Throws Error, with `owner` as the
/// name of that process, if the segment does not exist or has another size.
std::shared_ptr<std::byte> map_segment(int pid, int fd, std::size_t bytes,
                                       const std::string& owner);

/// Maps one of the `parts` of a segment, each of this many bytes. REQUIRES: parts are whole pages.
struct SegmentPart {
  std::size_t index = 0;
  std::size_t parts = 1;
  std::size_t bytes = 0;
};
std::shared_ptr<std::byte> map_segment_part(int pid, int fd, const SegmentPart& part,
                                            const std::string& owner);

}  // namespace lockstep::internal::comm
