// KnownRuns: the runs and studies in some folders. Requests name them by an id; no part of a
// request becomes a path.
#pragma once

#include "watch/run_state.h"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::internal::watch {

class KnownRuns {
 public:
  /// At most this many runs are followed: the newest.
  static constexpr std::size_t kMost = 200;

  /// `folders` are those of runs or studies, or have such in them. They need not exist yet.
  explicit KnownRuns(std::vector<std::filesystem::path> folders);

  /// Finds new runs, and reads what has changed since the last call.
  void refresh();

  /// The folder of a run or study; empty for an unknown id.
  std::filesystem::path folder_of(const std::string& id) const;

  /// All runs and studies, the newest first; a study is followed by its runs.
  nlohmann::json list_json() const;
  /// One run with its ranks, or a study with its runs. REQUIRES: the id is known.
  nlohmann::json state_json(const std::string& id) const;

 private:
  /// The runs of a study, or of another folder in a watched one.
  struct Group {
    std::filesystem::path folder;
    std::vector<std::string> runs;  ///< ids, in the order of their start
  };

  void follow(const std::vector<std::filesystem::path>& found);
  void make_groups();
  std::filesystem::path group_folder_of(const FollowedRun& run) const;
  bool is_watched(const std::filesystem::path& folder) const;
  nlohmann::json run_json(const std::string& id) const;
  nlohmann::json group_json(const std::string& id) const;

  const std::vector<std::filesystem::path> folders_;
  std::map<std::string, std::unique_ptr<FollowedRun>> runs_;  ///< by id
  std::map<std::string, Group> groups_;                       ///< by id
  std::map<std::string, std::string> group_of_;               ///< ids of groups by those of runs
  std::size_t left_out_ = 0;                                  ///< runs beyond kMost
};

}  // namespace lockstep::internal::watch
