// OutputRelay: forwards the output of a run's workers to the launcher's standard output and error,
// line by line, optionally with the rank in front and into log files. It keeps the last lines of
// each worker for the report of a failure.
//
// No output is lost and memory is bounded: if the launcher's own output is read slowly, one
// mebibyte is queued, then the workers block as if they wrote there themselves. If the reader is
// gone, output is dropped, but still logged. All of this runs on a separate thread, while the
// launcher watches its workers.
#pragma once

#include "base/net/wake_event.h"
#include "base/thread.h"
#include "base/unique_fd.h"
#include "launch/process/lines.h"
#include "launch/process/output_sink.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <list>
#include <map>
#include <string>
#include <vector>

namespace lockstep::internal::launch {

struct OutputOptions {
  /// Whether workers write into pipes that the launcher reads. If not, they share the launcher's
  /// output: they see the terminal, but lines may be torn, and a failure's report has no output.
  /// Required by the options below.
  bool capture = true;
  /// Whether every line starts with "[rank] ".
  bool prefix = false;
  /// The folder for rank-N.log with all output of rank N; created if missing. Empty: no logs.
  std::filesystem::path log_dir{};
  /// Whether to append to existing logs instead of replacing them.
  bool append = false;
};

/// Thread safety: all calls from one thread.
class OutputRelay {
 public:
  /// Throws Error if there are too few descriptors, FileError if the logs cannot be created.
  OutputRelay(const OutputOptions& options, const std::vector<int>& ranks);
  ~OutputRelay();

  /// Call it in a worker right after fork: makes the pipes its standard output and error.
  void use_in_child(int rank) const;

  /// Call it after the last fork.
  void start();

  /// Call it when all workers have ended. Output that is in the pipes now is still forwarded; later
  /// output of other processes that hold the pipes is not.
  void workers_ended();

  /// Whether everything has been forwarded. REQUIRES: workers_ended() was called.
  bool done() const { return done_; }
  /// Bytes forwarded so far: grows as long as the output is read.
  std::size_t progress() const { return progress_; }

  /// Stops at once and drops the rest. Returns the problems.
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
    UniqueFd write_end;  ///< the worker's end; closed here once it runs
    LineCutter lines;
  };

  void add_worker(int rank);
  Record& make_record(int rank);

  // The following run on the relay's thread.
  void run();
  bool relay_once();
  std::size_t read_from(Stream& stream, std::size_t limit);
  void pass_on(Stream& stream, const std::string& text);
  void flush_rest(Stream& stream);
  void take_what_is_left();

  const OutputOptions options_;
  OutputSink output_;
  OutputSink error_;
  bool one_sink_;  ///< standard output and error are one file: one queue keeps their order
  std::map<int, Record> records_;
  std::list<Stream> streams_;
  WakeEvent wake_;
  Thread thread_;
  std::atomic<bool> workers_ended_{false};
  std::atomic<bool> stop_{false};
  std::atomic<bool> done_{false};
  std::atomic<std::size_t> progress_{0};
  std::vector<std::string> warnings_;  ///< written by the relay's thread while it runs
};

}  // namespace lockstep::internal::launch
