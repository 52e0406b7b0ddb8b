// Writing and reading postmortem.json: why a run failed. The launcher writes it, the report reads
// it. docs/files.md lists its fields.
#pragma once

#include "observe/post_mortem.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::run {

constexpr const char* kPostMortemFile = "postmortem.json";

nlohmann::json to_json(const observe::PostMortem& post_mortem);

/// One of a rank's last operations. Times are seconds relative to the failure.
struct LastOperation {
  std::string name;
  std::string outcome;  ///< "ended", "failed" or "unfinished"
  std::string algorithm;
  double begin = 0;
  std::optional<double> end;
  double bytes = 0;
  double wait = 0;  ///< seconds until the last rank arrived
  std::size_t sequence = 0;
  std::optional<std::size_t> peer;  ///< only of a message
  std::optional<std::size_t> bucket;
  std::optional<std::size_t> step;
};

/// How one rank ended. Times are seconds relative to the failure.
struct RankEnd {
  std::size_t rank = 0;
  std::string ending;
  std::string within;  ///< the operation that was unfinished or failed
  std::size_t step = 0;
  std::vector<std::int64_t> waited_for;
  std::optional<double> waited;  ///< seconds in `within`
  std::optional<double> end;
  std::vector<LastOperation> operations;
};

struct PostMortemRecord {
  std::vector<std::string> verdict;
  std::vector<RankEnd> ranks;
};

/// Throws FileError if the file is malformed.
PostMortemRecord read_post_mortem_file(const std::filesystem::path& file);

}  // namespace lockstep::internal::run
