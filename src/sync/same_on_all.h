// Checks that all ranks have the same lines of text.
#pragma once

#include <lockstep/group.h>

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::sync {

/// A collective. Returns the first line that differs between ranks, with the ranks of each version:
/// "ranks 0 and 2 had b; rank 1 had x". Empty, on all ranks, if all lines are equal;
/// then only a digest is exchanged.
std::string difference_between_ranks(Group& group, const std::vector<std::string>& lines);

/// A collective. Throws MismatchError, the same on every rank, unless all ranks have the same
/// lines. It quotes the first difference and the ranks of each version. `what` and `remedy` begin
/// and end the message: "the ranks' modules differ", "construct the same on all".
void require_same_on_all(Group& group, const std::vector<std::string>& lines, std::string_view what,
                         std::string_view remedy);

/// A collective. All ranks' texts, by rank; they may differ in length.
std::vector<std::string> gather_texts(Group& group, const std::string& mine);

}  // namespace lockstep::internal::sync
