// The rank harness: runs a test's body on several ranks, as threads of this process or as forked
// processes with a real launcher and rendezvous between them.
#pragma once

#include <lockstep/group.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace lockstep::testing {

/// How the ranks of a test are started and talk: threads, or forked processes that share memory,
/// talk over Gloo, or pretend to be on several hosts of two ranks each.
enum class RankKind { thread, process, gloo, hosts };

inline constexpr std::array kAllKinds{RankKind::thread, RankKind::process, RankKind::gloo,
                                      RankKind::hosts};
/// Those whose ranks share memory.
inline constexpr std::array kSharedKinds{RankKind::thread, RankKind::process};

std::string name_of(RankKind kind);

/// Runs `body` on all ranks; a rank that throws, or whose EXPECTs fail, fails the test.
void run_ranks(RankKind kind, int size, const std::function<void(Group)>& body,
               const GroupOptions& options = {});

/// Runs `body` on all ranks and returns the message of the error that each rank threw ("" if none).
/// A process that died has "(died)".
std::vector<std::string> errors_of_ranks(RankKind kind, int size,
                                         const std::function<void(Group)>& body,
                                         const GroupOptions& options = {});

}  // namespace lockstep::testing
