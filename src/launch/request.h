// What a process asks of the run that it joins. Ranks that ask for different things (another
// transport, another version of Lockstep) could only wait for each other in vain, each in its own
// way: they compare at the rendezvous, before there is a group.
//
//   request/2            what rank 2 asks for, one line each, or why it cannot join
//   all ranks' arrival   rank 0 has seen all requests: nothing, or what is wrong with them
//   heard/2              rank 2 knows what is wrong
#pragma once

#include "comm/store.h"

#include <string>
#include <vector>

namespace lockstep::launch {

/// What must be the same on all ranks, one line each. `workers` is how many the run begins with,
/// `elastic` whether its group may change.
std::vector<std::string> make_request(int workers, bool elastic, const std::string& transport);

/// Tells the rendezvous, once.
void publish_request(comm::Store& store, int rank, const std::vector<std::string>& request);

/// Tells the rendezvous, instead of a request, why this rank cannot join: the others need not wait
/// for it, and get a PeerLostError with the reason. Rank 0 stays until those that have come know.
void publish_failure(comm::Store& store, int rank, int workers, const std::string& why);

/// Waits until all `workers` ranks have published theirs. Throws MismatchError, the same on all
/// ranks, if two differ: it names the ranks and what each came with. Throws TimeoutError and
/// PeerLostError if a rank does not come; with `elastic` one that has ended is left out. As many
/// questions to the store as there are ranks, in all.
void require_same_requests(comm::Store& store, int rank, int workers, bool elastic,
                           const Deadline& deadline);

}  // namespace lockstep::launch
