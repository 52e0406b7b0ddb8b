// Operations: each collective of a Group as an object that GroupCore can run now or later. Making
// one checks the arguments and picks the algorithm; running it compares fingerprints with the other
// ranks and moves the data.
//
// REQUIRES: the arrays and the core outlive the operation.
#pragma once

#include "comm/algorithms.h"
#include "comm/group_core.h"

#include <string_view>

namespace lockstep::internal::comm {

// All throw UsageError for arguments that are invalid on this rank. Group documents each operation.
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

/// Throws UsageError for a null pointer with a nonzero length.
void require_array(const Transport& transport, ConstArrayView array, std::string_view operation);

/// The features of a transport beyond messages.
Offers offers_of(Transport& transport);

/// Throws UsageError unless `rank` is another rank of the group and the tag is not negative.
void require_peer(const Transport& transport, int rank, int tag, std::string_view what);

}  // namespace lockstep::internal::comm
