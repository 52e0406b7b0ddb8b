// Splitting a group into new ones.
#pragma once

#include "comm/transport.h"

#include <memory>

namespace lockstep::comm {

/// The transport of the ranks that name the same color, in the order of (key, rank). All ranks call
/// it, as their collective number `sequence`; `deadline` bounds the exchange of colors, `join` the
/// making of the new group. Abandoning `transport` ends both at once.
std::unique_ptr<Transport> split(Transport& transport, int color, int key, std::uint64_t sequence,
                                 const Deadline& deadline, const Deadline& join);

}  // namespace lockstep::comm
