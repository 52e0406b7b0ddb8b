// Finds the first difference between lists of lines, one per rank.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal {

/// Each rank's text at the first line that is not the same on all ranks: "ranks 0 and 2 had b;
/// rank 1 had x". Empty if there is no difference. Ranks without a list are ignored.
std::string first_difference(
    const std::vector<std::optional<std::vector<std::string>>>& lines_by_rank);

}  // namespace lockstep::internal
