// WaitingNotice: while a process waits for the other ranks of its run, says on standard error whom
// it waits for.
#pragma once

#include "base/thread_annotations.h"

#include <string>
#include <thread>

namespace lockstep::cli {

/// Lives while the process joins its run. It speaks after five seconds, and then twice a minute.
class WaitingNotice {
 public:
  /// `name` stands before every line: "lockstep train".
  explicit WaitingNotice(std::string name);
  ~WaitingNotice();
  WaitingNotice(const WaitingNotice&) = delete;
  WaitingNotice& operator=(const WaitingNotice&) = delete;

 private:
  void speak();

  const std::string name_;
  Mutex mutex_;
  Condition changed_;
  bool done_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace lockstep::cli
