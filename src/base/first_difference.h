// Where lists of lines, one a rank, differ first.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

/// What each rank has in the first line that is not the same on all: "rank 0 and 2 came with b;
/// rank 1 came with x". Empty if there is none. Ranks without a list are left out.
std::string first_difference(
    const std::vector<std::optional<std::vector<std::string>>>& lines_by_rank);

}  // namespace lockstep
