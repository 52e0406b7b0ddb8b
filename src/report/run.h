// Run: all that a report shows of one training run, out of its folder.
#pragma once

#include "report/fields.h"
#include "report/metrics.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::report {

/// Why a run has no summary.
struct Stopped {
  std::size_t iteration = 0;           ///< the last on record
  std::optional<std::size_t> of = {};  ///< how many it was to have
  std::string why;
};

struct Run {
  std::string name;    ///< unique on its page
  std::string folder;  ///< below the page's own, where it has one
  std::filesystem::path path;
  Fields config;
  std::optional<Fields> summary;  ///< none if the run did not end well
  Metrics metrics;
  std::optional<Stopped> stopped;

  std::size_t workers() const { return config.count("workers"); }
  /// How people call its method; "alone" for one worker.
  std::string method() const;
  /// "iteration 320 of 700". REQUIRES: it stopped.
  std::string where_it_stopped() const;
};

/// Whether the folder looks like a run's: it has a config.json.
bool is_run_folder(const std::filesystem::path& folder);

/// Throws FileError that names the file, and the line, that cannot be used.
Run read_run(const std::filesystem::path& folder, std::string name);

}  // namespace lockstep::report
