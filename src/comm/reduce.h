// The arithmetic of reductions on plain arrays.
#pragma once

#include <lockstep/types.h>

#include <cstddef>
#include <span>

namespace lockstep::internal::comm {

/// into[i] = into[i] op from[i]. `average` adds; finish_average divides at the end.
void reduce_into(ArrayView into, const void* from, ReduceOp op);

/// Divides by the number of ranks if `op` is average; does nothing otherwise. REQUIRES: an average
/// has a floating-point type.
void finish_average(ArrayView data, ReduceOp op, int ranks);

/// Combines `count` elements of several arrays of equal length and writes the result to all
/// `outputs`: one array, or as many as there are inputs, which may be the inputs themselves. Two or
/// four arrays are processed in one pass without allocation.
///
/// The order of addition is that of one fixed binary tree over the arrays: pairs of adjacent arrays
/// first, then pairs of pairs: ((0+1)+(2+3))+((4+5)+…). It does not depend on the length or on the
/// rank that computes it.
void reduce_tree(std::span<void* const> arrays, std::span<void* const> outputs, std::size_t count,
                 DataType type, ReduceOp op);

}  // namespace lockstep::internal::comm
