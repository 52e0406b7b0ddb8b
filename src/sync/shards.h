// Shards: the logical ranks of a run. Each has its slice of every global batch, its batch-norm
// statistics and its gradients; a worker hosts one or more of them, one after another. Shards are a
// power of two, and so are workers unless some were lost. A worker's shards are neighbours, so that
// what a worker adds up is a whole branch of the fixed tree of additions (comm/reduce.h), and what
// the workers add up is the rest of it: the same sum, to the bit, whoever hosts which. Where the
// workers are no power of two, those to the right host larger branches: 3 workers 1, 1 and 2 of 4.
#pragma once

#include <lockstep/group.h>

#include "sync/sync_method.h"

#include <span>
#include <string>

namespace lockstep::sync {

/// Those that one worker hosts: first … first + count − 1 of `all`.
struct Shards {
  int first = 0;
  int count = 1;
  int all = 1;
};

/// `asked` in all, shared out over the workers; 0 for one a worker. REQUIRES: `asked` is a power of
/// two, and there are no more workers.
Shards shards_of(int asked, int rank, int workers);

/// Throws UsageError unless so many shards can be shared out over so many workers; 0 always can.
void require_shards(int asked, int workers);

/// The fastest algorithm of an all-reduce on the group's transport that adds along the tree.
Algorithm tree_algorithm(const Group& group);

/// The method with `auto` replaced by that, and halving-doubling too where it leaves the tree: with
/// workers that are no power of two.
Method along_tree(Method method, const Group& group);

/// Why this method's sums depend on the number of workers all the same; empty if they do not.
std::string order_of_its_own(const Method& method);

/// The sum of these values along the fixed tree.
double tree_sum(std::span<const double> values);

}  // namespace lockstep::sync
