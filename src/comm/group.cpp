#include <lockstep/error.h>
#include <lockstep/group.h>

#include "comm/group_core.h"
#include "comm/operations.h"
#include "comm/split.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep {

using namespace internal;

int Group::rank() const {
  return core_->transport().rank();
}

int Group::size() const {
  return core_->transport().size();
}

std::string_view Group::transport() const {
  return core_->transport().name();
}

Memory Group::allocate(std::size_t bytes) {
  Memory memory;
  core_->run({{.operation = comm::Operation::allocate, .count = bytes},
              [&](const comm::Fingerprint& call) {
                memory = core_->transport().allocate(bytes, call, core_->deadline());
              }});
  return memory;
}

void Group::all_reduce(ArrayView data, ReduceOp op, Algorithm algorithm) {
  core_->run(comm::all_reduce(*core_, data, op, algorithm));
}
Work Group::all_reduce_async(ArrayView data, ReduceOp op, Algorithm algorithm) {
  return Work(core_->submit(comm::all_reduce(*core_, data, op, algorithm)));
}

void Group::reduce(ArrayView data, ReduceOp op, int root, Algorithm algorithm) {
  core_->run(comm::reduce(*core_, data, op, root, algorithm));
}
Work Group::reduce_async(ArrayView data, ReduceOp op, int root, Algorithm algorithm) {
  return Work(core_->submit(comm::reduce(*core_, data, op, root, algorithm)));
}

void Group::reduce_scatter(ConstArrayView all, ArrayView mine, ReduceOp op, Algorithm algorithm) {
  core_->run(comm::reduce_scatter(*core_, all, mine, op, algorithm));
}
Work Group::reduce_scatter_async(AsyncConstArrayView all, ArrayView mine, ReduceOp op,
                                 Algorithm algorithm) {
  return Work(core_->submit(comm::reduce_scatter(*core_, all, mine, op, algorithm)));
}

void Group::broadcast(ArrayView data, int root, Algorithm algorithm) {
  core_->run(comm::broadcast(*core_, data, root, algorithm));
}
Work Group::broadcast_async(ArrayView data, int root, Algorithm algorithm) {
  return Work(core_->submit(comm::broadcast(*core_, data, root, algorithm)));
}

void Group::all_gather(ConstArrayView mine, ArrayView all, Algorithm algorithm) {
  core_->run(comm::all_gather(*core_, mine, all, algorithm));
}
Work Group::all_gather_async(AsyncConstArrayView mine, ArrayView all, Algorithm algorithm) {
  return Work(core_->submit(comm::all_gather(*core_, mine, all, algorithm)));
}

void Group::gather(ConstArrayView mine, ArrayView all, int root) {
  core_->run(comm::gather(*core_, mine, all, root));
}
Work Group::gather_async(AsyncConstArrayView mine, ArrayView all, int root) {
  return Work(core_->submit(comm::gather(*core_, mine, all, root)));
}

void Group::scatter(ConstArrayView all, ArrayView mine, int root) {
  core_->run(comm::scatter(*core_, all, mine, root));
}
Work Group::scatter_async(AsyncConstArrayView all, ArrayView mine, int root) {
  return Work(core_->submit(comm::scatter(*core_, all, mine, root)));
}

void Group::barrier() {
  core_->run(comm::barrier(*core_));
}
Work Group::barrier_async() {
  return Work(core_->submit(comm::barrier(*core_)));
}

void Group::send(ConstArrayView data, int to, int tag) {
  isend(data, to, tag).wait();
}
void Group::recv(ArrayView data, int from, int tag) {
  irecv(data, from, tag).wait();
}

Work Group::isend(AsyncConstArrayView data, int to, int tag) {
  comm::require_peer(core_->transport(), to, tag, "the receiver");
  comm::require_array(core_->transport(), data, "send");
  return Work(core_->start({.name = "send", .bytes = data.bytes(), .peer = to}, [&] {
    return core_->transport().start_send(to, tag, comm::Transport::bytes_of(data));
  }));
}
Work Group::irecv(ArrayView data, int from, int tag) {
  comm::require_peer(core_->transport(), from, tag, "the sender");
  comm::require_array(core_->transport(), data, "recv");
  return Work(core_->start({.name = "recv", .bytes = data.bytes(), .peer = from}, [&] {
    return core_->transport().start_recv(from, tag, comm::Transport::bytes_of(data));
  }));
}

Group Group::split(int color, int key) {
  if (color < 0) throw UsageError(fmt::format("color {} is negative: colors start at 0", color));
  std::unique_ptr<comm::Transport> part;
  core_->run({{.operation = comm::Operation::split}, [&](const comm::Fingerprint& call) {
                part = comm::split(core_->transport(), color, key, call.sequence, core_->deadline(),
                                   Deadline::after(core_->options().rendezvous_timeout));
              }});
  return comm::make_group(std::move(part), core_->options(), core_->recorder());
}

bool Group::has(Algorithm algorithm) const {
  const auto all =
      comm::algorithms_of(comm::Operation::all_reduce, comm::offers_of(core_->transport()));
  return algorithm == Algorithm::automatic ||
         std::find(all.begin(), all.end(), algorithm) != all.end();
}

Counters Group::counters() const {
  return core_->counters();
}

void Group::observe(OperationObserver observer) {
  core_->observe(std::move(observer));
}

}  // namespace lockstep
