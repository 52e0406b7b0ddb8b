// Splitting a group into new groups.
#pragma once

#include "comm/transport.h"

#include <memory>

namespace lockstep::internal::comm {

/// Makes the transport of the ranks that pass the same color, ordered by (key, rank). A collective,
/// with the number `sequence`; `deadline` bounds the exchange of colors, `join` the creation of the
/// new group. Abandoning `transport` ends both at once.
std::unique_ptr<Transport> split(Transport& transport, int color, int key, std::uint64_t sequence,
                                 const Deadline& deadline, const Deadline& join);

}  // namespace lockstep::internal::comm
