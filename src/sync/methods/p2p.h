// p2p: like gather-scatter, with isend and irecv instead of collectives. All messages of a phase
// are in flight at once, so rank 0 does not serve the ranks in turn. It still moves 2(W−1) times
// the gradients.
#pragma once

#include "sync/sync_method.h"

namespace lockstep::internal::sync {

class PointToPoint : public SyncMethod {
 public:
  PointToPoint(Group group, const Gradients& gradients, ReduceOp op);

  void ready(std::size_t) override {}
  void finish() override;

 private:
  void serve();
  void send_and_receive();
  /// On rank 0: space for all ranks' gradients of a parameter.
  ArrayView parts_of(std::size_t parameter);
  ArrayView part_of(std::size_t parameter, int rank);

  Group group_;
  const Gradients& gradients_;
  const ReduceOp op_;
  std::vector<std::byte> parts_;
};

}  // namespace lockstep::internal::sync
