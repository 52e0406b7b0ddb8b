// Our element types and reductions in MPI's terms.
#pragma once

#include <lockstep/types.h>

#include <mpi.h>

namespace lockstep::comm {

/// float16 and bfloat16 travel as 16-bit integers; only mpi_op knows what they mean.
MPI_Datatype mpi_type(DataType type);

/// An operation that runs our own kernels, for all types alike: so NaN, wrapping and rounding are
/// the same as on every other transport. `average` adds. Made on first use and kept. REQUIRES: the
/// caller is inside MPI (MpiRuntime::enter).
MPI_Op mpi_op(DataType type, ReduceOp op);

}  // namespace lockstep::comm
