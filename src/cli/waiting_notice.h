// WaitingNotice: prints to standard error which ranks a process waits for while it joins its run.
#pragma once

#include "base/thread.h"
#include "base/thread_annotations.h"

#include <string>

namespace lockstep::internal::cli {

/// Prints from its own thread during its lifetime: after five seconds, and then twice a minute.
class WaitingNotice {
 public:
  /// `name` is the prefix of every line: "lockstep train".
  explicit WaitingNotice(std::string name);
  ~WaitingNotice();
  WaitingNotice(const WaitingNotice&) = delete;
  WaitingNotice& operator=(const WaitingNotice&) = delete;

 private:
  void print_notices();

  const std::string name_;
  Mutex mutex_;
  Condition changed_;
  bool done_ GUARDED_BY(mutex_) = false;
  Thread thread_;
};

}  // namespace lockstep::internal::cli
