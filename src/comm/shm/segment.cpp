#include "comm/shm/segment.h"

#include <lockstep/error.h>

#include "base/descriptors.h"
#include "base/files.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace lockstep::internal::comm {

namespace {

std::shared_ptr<std::byte> map_shared(int fd, std::size_t bytes, std::size_t begin = 0) {
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(begin));
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(memory), [bytes](std::byte* mapped) { ::munmap(mapped, bytes); }};
}

/// Retries if a signal interrupts it.
bool reserve_room(int fd, off_t length) {
  int result = 0;
  do {
    result = ::fallocate(fd, 0, 0, length);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

}  // namespace

NewSegment make_segment(std::size_t bytes, bool reserve) {
  UniqueFd fd(::memfd_create("lockstep", MFD_CLOEXEC));
  const auto length = static_cast<off_t>(bytes);
  if (!fd || ::ftruncate(fd.get(), length) != 0) return {};
  // Reserves the memory now: without it the kernel would end a process at its first access to a
  // page.
  if (reserve && !reserve_room(fd.get(), length)) return {};
  auto memory = map_shared(fd.get(), bytes);
  if (!memory) return {};
  return {std::move(fd), std::move(memory)};
}

std::shared_ptr<std::byte> map_segment(int pid, int fd, std::size_t bytes,
                                       const std::string& owner) {
  return map_segment_part(pid, fd, {.bytes = bytes}, owner);
}

std::shared_ptr<std::byte> map_segment_part(int pid, int fd, const SegmentPart& part,
                                            const std::string& owner) {
  const std::string path = fmt::format("/proc/{}/fd/{}", pid, fd);
  auto fail = [&](const std::string& why) {
    throw Error(fmt::format(
        "cannot map the shared memory of {} ({}): {}. Ranks on the shm transport must run on one "
        "host, as one user, and see each other's processes",
        owner, path, why));
  };
  const UniqueFd file = open_file(path, O_RDWR);
  if (!file) throw_if_descriptor_shortage(fmt::format("map the shared memory of {}", owner));
  if (!file) fail(last_system_error());
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(last_system_error());
  const std::size_t whole = part.parts * part.bytes;
  if (status.st_size != static_cast<off_t>(whole))
    fail(fmt::format("it has {} bytes instead of {}", status.st_size, whole));
  auto memory = map_shared(file.get(), part.bytes, part.index * part.bytes);
  if (!memory) fail(last_system_error());
  return memory;
}

}  // namespace lockstep::internal::comm
