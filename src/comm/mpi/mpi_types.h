// Lockstep's element types and reductions as MPI types and operations.
#pragma once

#include <lockstep/types.h>

#include <mpi.h>

namespace lockstep::internal::comm {

/// float16 and bfloat16 travel as 16-bit integers; only mpi_op interprets them.
MPI_Datatype mpi_type(DataType type);

/// An operation that runs Lockstep's own kernels, for all types, so that NaN, wrapping and rounding
/// are the same as on every other transport. `average` adds. Created on first use and kept.
/// REQUIRES: the caller is inside MPI (MpiRuntime::enter).
MPI_Op mpi_op(DataType type, ReduceOp op);

}  // namespace lockstep::internal::comm
