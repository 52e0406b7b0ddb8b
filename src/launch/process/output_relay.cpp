#include "launch/process/output_relay.h"

#include <lockstep/error.h>

#include "base/files.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace lockstep::internal::launch {

namespace {

constexpr std::size_t kBlock = 64 * 1024;
constexpr int kIdle = 100;  // milliseconds after which an incomplete line is shown

bool same_file(int one, int other) {
  struct stat a {};
  struct stat b {};
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

std::array<UniqueFd, 2> make_pipe(int rank) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(fmt::format("cannot read the output of rank {}: {}", rank, last_system_error()));
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

OutputRelay::OutputRelay(const OutputOptions& options, const std::vector<int>& ranks)
    : options_(options),
      output_(STDOUT_FILENO, "standard output"),
      error_(STDERR_FILENO, "standard error"),
      one_sink_(same_file(STDOUT_FILENO, STDERR_FILENO)) {
  if (!options_.log_dir.empty()) make_folder(options_.log_dir);
  for (int rank : ranks) add_worker(rank);
}

OutputRelay::~OutputRelay() {
  stop();
}

void OutputRelay::add_worker(int rank) {
  Record& record = make_record(rank);
  for (OutputSink* sink : {&output_, one_sink_ ? &output_ : &error_}) {
    auto [read_end, write_end] = make_pipe(rank);
    streams_.push_back({rank, &record, sink, std::move(read_end), std::move(write_end), {}});
  }
}

OutputRelay::Record& OutputRelay::make_record(int rank) {
  Record& record = records_[rank];
  if (options_.log_dir.empty()) return record;
  const auto path = options_.log_dir / fmt::format("rank-{}.log", rank);
  const int truncate = options_.append ? 0 : O_TRUNC;
  record.log = open_file(path, O_WRONLY | O_CREAT | truncate | O_APPEND, 0666);
  if (!record.log)
    throw FileError(fmt::format("cannot write {}: {}", path.string(), last_system_error()));
  return record;
}

void OutputRelay::use_in_child(int rank) const {
  int target = STDOUT_FILENO;
  for (const Stream& stream : streams_)
    if (stream.rank == rank) ::dup2(stream.write_end.get(), target++);
}

void OutputRelay::start() {
  for (Stream& stream : streams_) stream.write_end.reset();
  thread_ = Thread("output relay", [this] { run(); });
}

void OutputRelay::workers_ended() {
  workers_ended_ = true;
  wake_.wake();
}

std::vector<std::string> OutputRelay::stop() {
  stop_ = true;
  wake_.wake();
  if (thread_.joinable()) thread_.join();
  std::vector<std::string> warnings = warnings_;
  for (const OutputSink* sink : {&output_, &error_}) {
    if (!sink->trouble().empty())
      warnings.push_back(fmt::format("cannot write to {}: {}: output of the workers is missing",
                                     sink->name(), sink->trouble()));
    if (!sink->empty())
      warnings.push_back(
          fmt::format("the last {} bytes of the workers' output are missing: "
                      "{} was not read",
                      sink->waiting(), sink->name()));
  }
  return warnings;
}

std::vector<std::string> OutputRelay::last_lines(int rank) const {
  const auto found = records_.find(rank);
  return found == records_.end() ? std::vector<std::string>{} : found->second.last.lines();
}

void OutputRelay::run() {
  // A reader that is gone must not end the launcher by SIGPIPE.
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
  while (!stop_ && relay_once()) {
  }
  done_ = true;
}

/// Returns whether there may be more to do.
bool OutputRelay::relay_once() {
  std::vector<pollfd> watched{{wake_.fd(), POLLIN, 0}};
  bool begun = false;
  for (const Stream& stream : streams_) {
    // The pipes of a full sink are not polled: a closed one would be reported repeatedly.
    watched.push_back({stream.sink->full() ? -1 : stream.read_end.get(), POLLIN, 0});
    begun = begun || (stream.lines.has_rest() && !options_.prefix);
  }
  for (const OutputSink* sink : {&output_, &error_})
    watched.push_back({sink->empty() ? -1 : sink->fd(), POLLOUT, 0});
  const int ready = ::poll(watched.data(), watched.size(), begun ? kIdle : -1);
  wake_.reset();

  std::size_t index = 1;
  for (Stream& stream : streams_) {
    if (watched[index++].revents != 0) read_from(stream, kBlock);
    if (ready == 0 && !options_.prefix) flush_rest(stream);
  }
  const bool ended = workers_ended_;  // read once: they may end at this point
  if (ended) take_what_is_left();
  for (OutputSink* sink : {&output_, &error_}) progress_ += sink->write_some();
  return !ended || !output_.empty() || !error_.empty();
}

/// Returns the number of bytes read; 0 at the end, or if nothing is available.
std::size_t OutputRelay::read_from(Stream& stream, std::size_t limit) {
  std::array<char, kBlock> block;
  const ssize_t got = ::read(stream.read_end.get(), block.data(), std::min(limit, block.size()));
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (got <= 0) {
    flush_rest(stream);
    stream.read_end.reset();
    return 0;
  }
  for (const std::string& line : stream.lines.add({block.data(), static_cast<std::size_t>(got)}))
    pass_on(stream, line);
  return static_cast<std::size_t>(got);
}

void OutputRelay::pass_on(Stream& stream, const std::string& text) {
  Record& record = *stream.record;
  record.last.add(text);
  if (record.log &&
      ::write(record.log.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    warnings_.push_back(
        fmt::format("the log of rank {} is incomplete: {}", stream.rank, last_system_error()));
    record.log.reset();
  }
  if (!options_.prefix) return stream.sink->put(text);
  stream.sink->put(fmt::format("[{}] {}{}", stream.rank, text, text.back() == '\n' ? "" : "\n"));
}

void OutputRelay::flush_rest(Stream& stream) {
  if (stream.lines.has_rest()) pass_on(stream, stream.lines.take_rest());
}

void OutputRelay::take_what_is_left() {
  for (Stream& stream : streams_) {
    if (!stream.read_end) continue;
    // Only the data available now: a process that outlives its worker could write for ever.
    int there = 0;
    ::ioctl(stream.read_end.get(), FIONREAD, &there);
    auto left = static_cast<std::size_t>(std::max(0, there));
    while (left > 0) {
      const std::size_t got = read_from(stream, left);
      if (got == 0) break;
      left -= got;
    }
    flush_rest(stream);
    stream.read_end.reset();
  }
}

}  // namespace lockstep::internal::launch
