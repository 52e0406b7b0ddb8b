// Shards: the logical ranks of a run. Each has its slice of every global batch, its batch-norm
// buffers and its gradients. A worker hosts one or more of them and runs them one after another.
// The number of shards is a power of two, and so is that of workers unless some were lost.
//
// A worker's shards are neighbours. The worker therefore adds up a whole branch of the fixed tree
// of additions (comm/reduce.h), and the workers together add up the rest: the sum is the same to
// the bit for every assignment of shards to workers. If the number of workers is no power of two,
// the last workers host larger branches: with 4 shards, 3 workers host 1, 1 and 2.
#pragma once

#include <lockstep/group.h>

#include "sync/sync_method.h"

#include <span>
#include <string>

namespace lockstep::internal::sync {

/// The shards of one worker: first … first + count − 1 of `all`.
struct Shards {
  int first = 0;
  int count = 1;
  int all = 1;
};

/// The shards of `rank` if `asked` shards are distributed over the workers; 0 means one per worker.
/// REQUIRES: `asked` is 0, or a power of two and at least the number of workers.
Shards shards_of(int asked, int rank, int workers);

/// Throws UsageError unless `asked` shards can be distributed over the workers; 0 is always
/// allowed.
void require_shards(int asked, int workers);

/// The fastest all-reduce algorithm on the group's transport that adds along the tree.
Algorithm tree_algorithm(const Group& group);

/// Replaces `auto` by tree_algorithm(); also halving-doubling if the number of workers is no power
/// of two, because it then leaves the tree.
Method along_tree(Method method, const Group& group);

/// The reason why this method's sums depend on the number of workers; empty if they do not.
std::string order_dependence(const Method& method);

/// The sum of these values along the fixed tree.
double tree_sum(std::span<const double> values);

}  // namespace lockstep::internal::sync
