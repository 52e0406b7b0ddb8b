// A rank's request to the run that it joins. Ranks with different requests (another transport,
// another version of Lockstep) would wait for each other in vain. Therefore they compare requests
// at the rendezvous, before the group is made.
//
//   request/2            rank 2's request, or the reason why it cannot join, one item per line
//   all ranks' arrival   rank 0 has seen all requests: empty, or the difference between them
//   heard/2              rank 2 has read the difference
#pragma once

#include "comm/store.h"

#include <string>
#include <vector>

namespace lockstep::internal::launch {

/// The lines that must be the same on all ranks. `workers` is the initial number of workers,
/// `elastic` whether the group may change.
std::vector<std::string> make_request(int workers, bool elastic, const std::string& transport);

/// Publishes the request at the rendezvous, once.
void publish_request(comm::Store& store, int rank, const std::vector<std::string>& request);

/// Publishes, instead of a request, why this rank cannot join: the others stop waiting for it and
/// get a PeerLostError with the reason. Rank 0 stays until the ranks that have arrived know.
void publish_failure(comm::Store& store, int rank, int workers, const std::string& why);

/// Waits until all `workers` ranks have published their requests. Throws MismatchError, the same on
/// all ranks, if two differ: it names the ranks and their requests. Throws TimeoutError and
/// PeerLostError if a rank does not arrive; with `elastic`, a rank that has ended is skipped. Sends
/// as many requests to the store as there are ranks, in total.
void require_same_requests(comm::Store& store, int rank, int workers, bool elastic,
                           const Deadline& deadline);

}  // namespace lockstep::internal::launch
