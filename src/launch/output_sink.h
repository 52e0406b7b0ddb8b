// OutputSink: where the launcher passes its workers' output on to: its own standard output or
// error. Never waits, whatever reads there: what cannot be written yet is queued.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::launch {

/// One thread at a time. REQUIRES: SIGPIPE is blocked or ignored in it.
class OutputSink {
 public:
  /// How much may wait here before its feeders should be left waiting too.
  static constexpr std::size_t kFull = 1 << 20;

  /// Does not own the descriptor; `name` is for messages.
  OutputSink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  /// Once the reader is gone, all is dropped.
  void put(std::string_view bytes);

  int fd() const { return fd_; }
  bool empty() const { return queue_.empty(); }
  bool full() const { return queue_.size() >= kFull; }
  std::size_t waiting() const { return queue_.size(); }
  const std::string& name() const { return name_; }

  /// Writes what can be written now; returns how much that was. A reader that has gone is no error:
  /// nobody wants the output. Anything else that goes wrong is in trouble().
  std::size_t write_some();

  /// Why nothing can be written any more: a full disk. Empty if all is well.
  const std::string& trouble() const { return trouble_; }

 private:
  bool writable() const;

  const int fd_;
  const std::string name_;
  std::string queue_;
  std::string trouble_;
  bool gone_ = false;
};

}  // namespace lockstep::launch
