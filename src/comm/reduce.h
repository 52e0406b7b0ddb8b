// The arithmetic of reductions, on plain arrays.
#pragma once

#include <lockstep/types.h>

#include <cstddef>
#include <span>

namespace lockstep::comm {

/// into[i] = into[i] op from[i]. `average` adds; finish_average divides at the end.
void reduce_into(ArrayView into, const void* from, ReduceOp op);

/// Divides by the number of ranks where `op` is average; does nothing otherwise. REQUIRES: an
/// average is only asked for floating-point types.
void finish_average(ArrayView data, ReduceOp op, int ranks);

/// Combines `count` elements of several arrays of equal length and writes the result to all of
/// `outputs`: one array, or as many as are combined, which may be the same. Two or four arrays are
/// read and written in one pass, and for them nothing is allocated.
///
/// The order of addition is that of one fixed binary tree over the arrays: neighbours first, then
/// pairs, then fours: ((0+1)+(2+3))+((4+5)+…). It does not depend on the length or on who computes.
void reduce_tree(std::span<void* const> arrays, std::span<void* const> outputs, std::size_t count,
                 DataType type, ReduceOp op);

}  // namespace lockstep::comm
