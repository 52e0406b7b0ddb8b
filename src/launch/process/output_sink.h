// OutputSink: the destination of the workers' output: the launcher's standard output or error.
// Never blocks: bytes that cannot be written yet are queued.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::internal::launch {

/// Thread safety: one thread at a time. REQUIRES: SIGPIPE is blocked or ignored in it.
class OutputSink {
 public:
  /// Queue length from which the sources should be left waiting too.
  static constexpr std::size_t kFull = 1 << 20;

  /// Does not own the descriptor; `name` is for messages.
  OutputSink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  /// Once the reader is gone, everything is dropped.
  void put(std::string_view bytes);

  int fd() const { return fd_; }
  bool empty() const { return queue_.empty(); }
  bool full() const { return queue_.size() >= kFull; }
  std::size_t waiting() const { return queue_.size(); }
  const std::string& name() const { return name_; }

  /// Writes as much as possible without blocking; returns the number of bytes. A reader that is
  /// gone is not an error. Any other failure is in trouble().
  std::size_t write_some();

  /// Why writing is impossible, for example a full disk. Empty if there is no problem.
  const std::string& trouble() const { return trouble_; }

 private:
  bool writable() const;

  const int fd_;
  const std::string name_;
  std::string queue_;
  std::string trouble_;
  bool gone_ = false;
};

}  // namespace lockstep::internal::launch
