// Agreement of all ranks on something that can be told in lines of text.
#pragma once

#include <lockstep/group.h>

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::sync {

/// A collective. Throws MismatchError, the same on every rank, unless all ranks have the same
/// lines; it quotes the first that differs, and says which ranks have what there. `what` and
/// `remedy` begin and end the message: "the ranks' modules differ", "construct the same on all".
/// Where all is well only a digest is exchanged.
void require_same_on_all(Group& group, const std::vector<std::string>& lines, std::string_view what,
                         std::string_view remedy);

}  // namespace lockstep::sync
