// MPI's nonblocking collectives, polled in a loop that calls a watch function.
#pragma once

#include "comm/mesh/wire.h"
#include "comm/mpi/mpi_link.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace lockstep::internal::comm {

/// If `watch` throws, the collective gets a moment to end; then the runtime is shut down, because
/// MPI cannot cancel collectives. Arrays of more than 2^31 - 1 elements are rejected.
class MpiCollectives : public NativeCollectives {
 public:
  MpiCollectives(std::shared_ptr<MpiLink> link, int rank, int size);

  void all_reduce(ArrayView data, ReduceOp op, const Watch& watch) override;
  void reduce(ArrayView data, ReduceOp op, int root, const Watch& watch) override;
  void reduce_scatter(ConstArrayView all, ArrayView mine, ReduceOp op, const Watch& watch) override;
  void broadcast(ArrayView data, int root, const Watch& watch) override;
  void all_gather(ConstArrayView mine, ArrayView all, const Watch& watch) override;
  void gather(ConstArrayView mine, ArrayView all, int root, const Watch& watch) override;
  void scatter(ConstArrayView all, ArrayView mine, int root, const Watch& watch) override;

 private:
  using Start = std::function<int(MPI_Comm communicator, MPI_Request* request)>;

  /// Starts a collective and returns when it is done.
  void run(std::string_view name, const Start& start, const Watch& watch);
  void finish(MPI_Request& request, std::string_view name, const Watch& watch);
  /// This rank's part of `all`, which holds `count` elements per rank.
  const void* part(const void* all, std::size_t count, DataType type) const;

  std::shared_ptr<MpiLink> link_;
  const int rank_;
  const int size_;
};

}  // namespace lockstep::internal::comm
