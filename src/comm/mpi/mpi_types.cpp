#include "comm/mpi/mpi_types.h"

#include "base/thread_annotations.h"
#include "comm/kernels.h"
#include "comm/mpi/mpi_calls.h"

#include <map>
#include <utility>

namespace lockstep::internal::comm {

namespace {

/// The function that MPI calls: inout[i] = in[i] op inout[i].
template <DataType type, ReduceOp op>
void combine(void* in, void* inout, int* count, MPI_Datatype*) {
  kernels().combine(inout, in, inout, static_cast<std::size_t>(*count), type, op);
}

/// MPI passes no context to the function, so each pair of type and operation needs its own
/// function.
template <DataType type>
MPI_User_function* function_for(ReduceOp op) {
  switch (op) {
    case ReduceOp::min:
      return &combine<type, ReduceOp::min>;
    case ReduceOp::max:
      return &combine<type, ReduceOp::max>;
    case ReduceOp::product:
      return &combine<type, ReduceOp::product>;
    default:
      return &combine<type, ReduceOp::sum>;
  }
}

MPI_User_function* function_for(DataType type, ReduceOp op) {
  switch (type) {
    case DataType::float64:
      return function_for<DataType::float64>(op);
    case DataType::float16:
      return function_for<DataType::float16>(op);
    case DataType::bfloat16:
      return function_for<DataType::bfloat16>(op);
    case DataType::int32:
      return function_for<DataType::int32>(op);
    case DataType::int64:
      return function_for<DataType::int64>(op);
    case DataType::uint8:
      return function_for<DataType::uint8>(op);
    default:
      return function_for<DataType::float32>(op);
  }
}

}  // namespace

MPI_Datatype mpi_type(DataType type) {
  switch (type) {
    case DataType::float64:
      return MPI_DOUBLE;
    case DataType::float16:
    case DataType::bfloat16:
      return MPI_UINT16_T;
    case DataType::int32:
      return MPI_INT32_T;
    case DataType::int64:
      return MPI_INT64_T;
    case DataType::uint8:
      return MPI_UINT8_T;
    default:
      return MPI_FLOAT;
  }
}

MPI_Op mpi_op(DataType type, ReduceOp op) {
  static Mutex mutex;
  static std::map<std::pair<DataType, ReduceOp>, MPI_Op> made;
  const Lock lock(mutex);
  if (const auto known = made.find({type, op}); known != made.end()) return known->second;
  constexpr int kCommutes = 1;
  MPI_Op operation = MPI_OP_NULL;
  check_mpi(MPI_Op_create(function_for(type, op), kCommutes, &operation), "define a reduction");
  made[{type, op}] = operation;
  return operation;
}

}  // namespace lockstep::internal::comm
