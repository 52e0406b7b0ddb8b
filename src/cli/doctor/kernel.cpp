// Checks with two child processes that processes can share memory and watch each other.
#include <lockstep/error.h>

#include "base/files.h"
#include "base/unique_fd.h"
#include "cli/doctor/finding.h"
#include "comm/shm/segment.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace lockstep::internal::cli {

namespace {

constexpr std::size_t kSegment = 1 << 16;
constexpr char kMark[] = "lockstep";

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(fmt::format("cannot make a pipe: {}", last_system_error()));
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// Everything that is written to the pipe until its last writer has closed it.
std::string read_all(const UniqueFd& pipe) {
  std::string text;
  char buffer[512];
  for (ssize_t got; (got = ::read(pipe.get(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

void write_all(const UniqueFd& pipe, const std::string& text) {
  [[maybe_unused]] const ssize_t put = ::write(pipe.get(), text.data(), text.size());
}

/// A child that holds a segment until `end` is closed, and reports its descriptor.
pid_t start_holder(Pipe& number, Pipe& end) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  end.write.reset();
  const comm::NewSegment segment = comm::make_segment(kSegment, true);
  if (segment.memory) {
    std::memcpy(segment.memory.get(), kMark, sizeof kMark);
    write_all(number.write, std::to_string(segment.fd.get()));
  }
  number.write.reset();
  read_all(end.read);
  std::_Exit(0);
}

/// A child that maps the holder's segment and reports the error; empty on success.
pid_t start_mapper(pid_t holder, int fd, Pipe& complaint) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    const auto memory = comm::map_segment(holder, fd, kSegment, "another process");
    if (std::memcmp(memory.get(), kMark, sizeof kMark) != 0)
      write_all(complaint.write, "it has unexpected content");
  } catch (const std::exception& error) {
    write_all(complaint.write, error.what());
  }
  std::_Exit(0);
}

/// Why two processes cannot share memory; empty if they can.
std::string try_sharing() {
  Pipe number = make_pipe();
  Pipe end = make_pipe();
  const pid_t holder = start_holder(number, end);
  if (holder < 0) return fmt::format("cannot fork: {}", last_system_error());
  number.write.reset();
  const std::string fd = read_all(number.read);
  std::string why = "cannot create a memory file";
  if (!fd.empty()) {
    // Created only now: the holder must not inherit its end, which would keep it open.
    Pipe complaint = make_pipe();
    const pid_t mapper = start_mapper(holder, std::stoi(fd), complaint);
    complaint.write.reset();
    why =
        mapper < 0 ? fmt::format("cannot fork: {}", last_system_error()) : read_all(complaint.read);
    if (mapper > 0) ::waitpid(mapper, nullptr, 0);
  }
  end.write.reset();
  ::waitpid(holder, nullptr, 0);
  return why;
}

Finding sharing() {
  Finding finding{.what = "shared memory",
                  .value = "processes can map each other's memory",
                  .number = {},
                  .state = {},
                  .advice = {}};
  std::string why;
  try {
    why = try_sharing();
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (why.empty()) return finding;
  finding.value = why;
  return finding.fail(
      "the shm transport needs memfd_create and access to /proc/PID/fd of the user's own "
      "processes: allow them in "
      "the container's seccomp profile, mount /proc without hidepid, or use --transport thread");
}

Finding watching() {
  Finding finding{.what = "pidfd", .value = "available", .number = {}, .state = {}, .advice = {}};
  const UniqueFd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (self) return finding;
  finding.value = last_system_error();
  return finding.fail(
      "the shm transport watches its peers through pidfd_open: it needs Linux 5.3 or newer, and a "
      "seccomp profile that allows it");
}

}  // namespace

std::vector<Finding> examine_kernel() {
  return {sharing(), watching()};
}

}  // namespace lockstep::internal::cli
