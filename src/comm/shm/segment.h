// Segment: memory that processes of one host share. It is a memfd: it has no name in the file
// system, is not limited by the size of /dev/shm, and disappears with the last process that maps
// it, however that process ends. A peer opens it through /proc/<pid>/fd, which the kernel lets only
// the same user do.
#pragma once

#include "base/unique_fd.h"

#include <cstddef>
#include <memory>
#include <string>

namespace lockstep::comm {

/// A new segment: zeroed, its memory reserved. Null memory and an invalid descriptor if there is no
/// room; then errno says why.
struct NewSegment {
  UniqueFd fd;
  std::shared_ptr<std::byte> memory;
};
NewSegment make_segment(std::size_t bytes, bool reserve);

/// Maps the segment that process `pid` holds as descriptor `fd`. Throws Error, which calls the
/// other process `owner`, if it is not there or not of the size expected.
std::shared_ptr<std::byte> map_segment(int pid, int fd, std::size_t bytes,
                                       const std::string& owner);

/// The same for one of the `parts` of a segment, each of so many bytes. REQUIRES: whole pages.
struct SegmentPart {
  std::size_t index = 0;
  std::size_t parts = 1;
  std::size_t bytes = 0;
};
std::shared_ptr<std::byte> map_segment_part(int pid, int fd, const SegmentPart& part,
                                            const std::string& owner);

}  // namespace lockstep::comm
