// Operations: each collective of a Group as something that GroupCore can run now or later. Making
// one checks its arguments and picks its algorithm; running it compares fingerprints with the other
// ranks and moves the data.
//
// The arrays, and the core, must outlive the operation.
#pragma once

#include "comm/algorithms.h"
#include "comm/group_core.h"

#include <string_view>

namespace lockstep::comm {

// All throw UsageError for arguments that make no sense on this rank. See Group for what each does.
GroupCore::Collective all_reduce(GroupCore& core, ArrayView data, ReduceOp op, Algorithm algorithm);
GroupCore::Collective reduce(GroupCore& core, ArrayView data, ReduceOp op, int root,
                             Algorithm algorithm);
GroupCore::Collective reduce_scatter(GroupCore& core, ConstArrayView all, ArrayView mine,
                                     ReduceOp op, Algorithm algorithm);
GroupCore::Collective broadcast(GroupCore& core, ArrayView data, int root, Algorithm algorithm);
GroupCore::Collective all_gather(GroupCore& core, ConstArrayView mine, ArrayView all,
                                 Algorithm algorithm);
GroupCore::Collective gather(GroupCore& core, ConstArrayView mine, ArrayView all, int root);
GroupCore::Collective scatter(GroupCore& core, ConstArrayView all, ArrayView mine, int root);
GroupCore::Collective barrier(GroupCore& core);

/// Throws UsageError for a null pointer with a length.
void require_array(const Transport& transport, ConstArrayView array, std::string_view operation);

/// What a transport has beyond messages.
Offers offers_of(Transport& transport);

/// Throws UsageError unless `rank` is another rank of the group and the tag is one of the user's.
void require_peer(const Transport& transport, int rank, int tag, std::string_view what);

}  // namespace lockstep::comm
