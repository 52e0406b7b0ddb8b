// OutputRelay: takes what the workers of a run write, and passes it on to the launcher's standard
// output and error, line by line, with the rank in front and into log files if asked. It remembers
// the last lines of each worker, for the report of a failure.
//
// Nothing is lost and nothing grows without end: when the launcher's own output is read slowly, a
// mebibyte is queued, then the workers wait as they would if they wrote there themselves. If nobody
// reads it any more, output is dropped, and still logged. All of this happens on a thread of its
// own: the launcher goes on watching its workers.
#pragma once

#include "base/bell.h"
#include "base/unique_fd.h"
#include "launch/lines.h"
#include "launch/output_sink.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <list>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace lockstep::launch {

struct OutputOptions {
  /// Whether workers write into pipes that the launcher reads. Without it they write straight to
  /// where the launcher does: they see the terminal, but lines may be torn and a failure's report
  /// has no output. Needed by all else here.
  bool capture = true;
  /// Whether every line starts with "[rank] ".
  bool prefix = false;
  /// Where to keep rank-N.log with all that rank N writes; made if it is not there. Empty: nowhere.
  std::filesystem::path log_dir{};
  /// Whether logs that are there go on, instead of starting anew.
  bool append = false;
};

/// All calls from one thread.
class OutputRelay {
 public:
  /// Throws Error if there are too few descriptors, FileError if the logs cannot be made.
  OutputRelay(const OutputOptions& options, const std::vector<int>& ranks);
  ~OutputRelay();

  /// In a worker right after fork: makes the pipes its standard output and error.
  void use_in_child(int rank) const;

  /// To be called after the last fork.
  void start();

  /// All workers have ended. What is in the pipes now is still taken; what somebody else who has
  /// them writes later is not.
  void workers_ended();

  /// Whether all has been passed on. REQUIRES: workers_ended() was called.
  bool done() const { return done_; }
  /// Bytes passed on so far: grows as long as someone reads.
  std::size_t progress() const { return progress_; }

  /// Stops at once; drops what has not been passed on. Returns what went wrong.
  std::vector<std::string> stop();

  /// REQUIRES: stop() was called.
  std::vector<std::string> last_lines(int rank) const;

 private:
  /// One worker's log and last lines.
  struct Record {
    UniqueFd log;
    LastLines last;
  };
  /// One worker's standard output or error.
  struct Stream {
    int rank;
    Record* record;
    OutputSink* sink;
    UniqueFd read_end;
    UniqueFd write_end;  ///< the worker's; closed here once it runs
    LineCutter lines;
  };

  void add_worker(int rank);
  Record& make_record(int rank);

  // On the relay's thread.
  void run();
  bool relay_once();
  std::size_t read_from(Stream& stream, std::size_t limit);
  void pass_on(Stream& stream, const std::string& text);
  void flush_rest(Stream& stream);
  void take_what_is_left();

  const OutputOptions options_;
  OutputSink output_;
  OutputSink error_;
  bool one_sink_;  ///< standard output and error are one file: kept in order by one queue
  std::map<int, Record> records_;
  std::list<Stream> streams_;
  Bell wake_;
  std::thread thread_;
  std::atomic<bool> workers_ended_{false};
  std::atomic<bool> stop_{false};
  std::atomic<bool> done_{false};
  std::atomic<std::size_t> progress_{0};
  std::vector<std::string> warnings_;  ///< of the relay's thread while it runs
};

}  // namespace lockstep::launch
