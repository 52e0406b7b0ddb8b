// Run: the content of a run folder that a report shows.
#pragma once

#include "report/metrics.h"
#include "run/fields.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::report {

/// How far an incomplete run came. It may still be running.
struct Stopped {
  std::size_t iteration = 0;           ///< the last recorded iteration
  std::optional<std::size_t> of = {};  ///< number of planned iterations
  std::string why;                     ///< why the run has no summary: sentences
  std::string how;                     ///< how to continue it; empty while it runs
};

struct Run {
  std::string name;    ///< unique on the page
  std::string folder;  ///< relative to the folder of the page, if the page is in a folder of runs
  std::filesystem::path path;
  run::Fields config;
  std::optional<run::Fields> summary;  ///< empty if the run is incomplete
  Metrics metrics;
  std::optional<Stopped> stopped;  ///< only of an incomplete run

  std::size_t workers() const { return config.count("workers"); }
  /// The name of its method; "alone" for one worker.
  std::string method() const;
  /// Why the run is incomplete and how far it came. REQUIRES: stopped has a value.
  std::string on_its_end() const;
};

/// Throws FileError with the file, and the line, that is malformed.
Run read_run(const std::filesystem::path& folder, std::string name, const MetricsReader& metrics);

}  // namespace lockstep::internal::report
