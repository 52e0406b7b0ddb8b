#include "comm/mpi/mpi_collectives.h"

#include <lockstep/error.h>

#include "comm/mpi/mpi_types.h"
#include "comm/reduce.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <vector>

namespace lockstep::internal::comm {

namespace {

/// MPI counts in int, and Open MPI's collectives add up the parts of all ranks in int too.
int checked_count(std::size_t count, std::size_t total) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (total > kMost)
    throw UsageError(
        fmt::format("[mpi] MPI's own collectives take at most {} elements, not {}: choose another "
                    "algorithm than native, or call it on slices",
                    kMost, total));
  return static_cast<int>(count);
}

int checked_count(std::size_t count) {
  return checked_count(count, count);
}

bool overlap(ConstArrayView a, ConstArrayView b) {
  const auto* first = static_cast<const std::byte*>(a.data);
  const auto* second = static_cast<const std::byte*>(b.data);
  const std::less<const std::byte*> before;
  return before(first, second + b.bytes()) && before(second, first + a.bytes());
}

/// A copy of an input that overlaps the output, which MPI forbids; empty if the arrays are
/// disjoint.
std::vector<std::byte> copy_if_overlapping(ConstArrayView read, ConstArrayView written) {
  if (!overlap(read, written)) return {};
  const auto* bytes = static_cast<const std::byte*>(read.data);
  return {bytes, bytes + read.bytes()};
}

const void* either(const std::vector<std::byte>& copy, ConstArrayView original) {
  return copy.empty() ? original.data : copy.data();
}

}  // namespace

MpiCollectives::MpiCollectives(std::shared_ptr<MpiLink> link, int rank, int size)
    : link_(std::move(link)), rank_(rank), size_(size) {}

void MpiCollectives::all_reduce(ArrayView data, ReduceOp op, const Watch& watch) {
  if (data.count == 0) return;
  const int count = checked_count(data.count);
  auto start = [&](MPI_Comm communicator, MPI_Request* request) {
    return MPI_Iallreduce(MPI_IN_PLACE, data.data, count, mpi_type(data.type),
                          mpi_op(data.type, op), communicator, request);
  };
  run("all_reduce", start, watch);
  finish_average(data, op, size_);
}

void MpiCollectives::reduce(ArrayView data, ReduceOp op, int root, const Watch& watch) {
  if (data.count == 0) return;
  const int count = checked_count(data.count);
  const bool is_root = rank_ == root;
  auto start = [&](MPI_Comm communicator, MPI_Request* request) {
    return MPI_Ireduce(is_root ? MPI_IN_PLACE : data.data, is_root ? data.data : nullptr, count,
                       mpi_type(data.type), mpi_op(data.type, op), root, communicator, request);
  };
  run("reduce", start, watch);
  if (is_root) finish_average(data, op, size_);
}

void MpiCollectives::reduce_scatter(ConstArrayView all, ArrayView mine, ReduceOp op,
                                    const Watch& watch) {
  if (mine.count == 0) return;
  const int count = checked_count(mine.count, all.count);
  const std::vector<std::byte> copy = copy_if_overlapping(all, mine);
  auto start = [&](MPI_Comm communicator, MPI_Request* request) {
    return MPI_Ireduce_scatter_block(either(copy, all), mine.data, count, mpi_type(mine.type),
                                     mpi_op(mine.type, op), communicator, request);
  };
  run("reduce_scatter", start, watch);
  finish_average(mine, op, size_);
}

void MpiCollectives::broadcast(ArrayView data, int root, const Watch& watch) {
  if (data.count == 0) return;
  const int count = checked_count(data.count);
  auto start = [&](MPI_Comm communicator, MPI_Request* request) {
    return MPI_Ibcast(data.data, count, mpi_type(data.type), root, communicator, request);
  };
  run("broadcast", start, watch);
}

void MpiCollectives::all_gather(ConstArrayView mine, ArrayView all, const Watch& watch) {
  if (mine.count == 0) return;
  const int count = checked_count(mine.count, all.count);
  const MPI_Datatype type = mpi_type(mine.type);
  const bool in_place = mine.data == part(all.data, mine.count, mine.type);
  const auto copy = in_place ? std::vector<std::byte>() : copy_if_overlapping(mine, all);
  auto start = [&](MPI_Comm communicator, MPI_Request* request) {
    return MPI_Iallgather(in_place ? MPI_IN_PLACE : either(copy, mine), count, type, all.data,
                          count, type, communicator, request);
  };
  run("all_gather", start, watch);
}

void MpiCollectives::gather(ConstArrayView mine, ArrayView all, int root, const Watch& watch) {
  if (mine.count == 0) return;
  const bool is_root = rank_ == root;
  const int count = checked_count(mine.count, mine.count * static_cast<std::size_t>(size_));
  const MPI_Datatype type = mpi_type(mine.type);
  const bool in_place = is_root && mine.data == part(all.data, mine.count, mine.type);
  const auto copy =
      is_root && !in_place ? copy_if_overlapping(mine, all) : std::vector<std::byte>();
  auto start = [&](MPI_Comm communicator, MPI_Request* request) {
    return MPI_Igather(in_place ? MPI_IN_PLACE : either(copy, mine), count, type,
                       is_root ? all.data : nullptr, count, type, root, communicator, request);
  };
  run("gather", start, watch);
}

void MpiCollectives::scatter(ConstArrayView all, ArrayView mine, int root, const Watch& watch) {
  if (mine.count == 0) return;
  const bool is_root = rank_ == root;
  const int count = checked_count(mine.count, mine.count * static_cast<std::size_t>(size_));
  const MPI_Datatype type = mpi_type(mine.type);
  const bool in_place = is_root && mine.data == part(all.data, mine.count, mine.type);
  const auto copy =
      is_root && !in_place ? copy_if_overlapping(all, mine) : std::vector<std::byte>();
  auto start = [&](MPI_Comm communicator, MPI_Request* request) {
    return MPI_Iscatter(is_root ? either(copy, all) : nullptr, count, type,
                        in_place ? MPI_IN_PLACE : mine.data, count, type, root, communicator,
                        request);
  };
  run("scatter", start, watch);
}

void MpiCollectives::run(std::string_view name, const Start& start, const Watch& watch) {
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const MpiRuntime::Visit visit = link_->enter();
    check_mpi(start(link_->communicator(), &request), name);
  }
  try {
    finish(request, name, watch);
  } catch (...) {
    auto ended = [&] {
      try {
        return poll([&] { return test_request(request, name); }, kAbandonTime);
      } catch (const Error&) {
        return false;
      }
    };
    link_->keep_communicator();
    if (!ended())
      MpiRuntime::instance().shut(
          fmt::format("a collective ({}) was abandoned, which MPI cannot cancel", name));
    throw;
  }
}

void MpiCollectives::finish(MPI_Request& request, std::string_view name, const Watch& watch) {
  constexpr std::chrono::milliseconds kWatchEvery(20);
  while (!poll(
      [&] {
        link_->require_open();
        return test_request(request, name);
      },
      kWatchEvery))
    watch();
}

const void* MpiCollectives::part(const void* all, std::size_t count, DataType type) const {
  return static_cast<const std::byte*>(all) +
         static_cast<std::size_t>(rank_) * count * size_of(type);
}

}  // namespace lockstep::internal::comm
