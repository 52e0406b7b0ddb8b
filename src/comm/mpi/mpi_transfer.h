// MpiTransfer: one send or receive over MPI, split into as many messages as its length needs.
#pragma once

#include "base/thread_annotations.h"
#include "comm/mesh/wire.h"
#include "comm/mpi/mpi_link.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace lockstep::internal::comm {

class MpiTransfer : public Transfer {
 public:
  /// Starts one message: offset of its first byte, its length, and the request to fill in.
  using Start = std::function<int(std::size_t offset, int bytes, MPI_Request* request)>;

  MpiTransfer(std::shared_ptr<MpiLink> link, std::size_t bytes, std::size_t part_bytes,
              const Start& start);

  /// Cancels what MPI can cancel and waits a moment for the rest; if some of it is still running
  /// then, shuts down the runtime (see there). In detail, for Open MPI 4.1:
  /// - A receive that has not matched a message is cancelled at once.
  /// - A receive that has matched cannot be cancelled. It ends when its sender continues; if the
  ///   sender is lost, it never ends.
  /// - A send cannot be cancelled (MPI_Cancel succeeds and does nothing). A short send has been
  ///   copied and is done; a long one ends when the receiver takes it, or never.
  /// - Over shared memory and TCP, this process's memory is written only by its own MPI calls, so a
  ///   shut-down runtime protects it. A peer may still read an abandoned send straight from this
  ///   process's memory (process_vm_readv); it then gets the current content or an error.
  ~MpiTransfer() override;

  bool done() override;
  bool wait_for(std::chrono::milliseconds slice) override;
  void give_up() override;

 private:
  bool test_remaining() REQUIRES_LOCK(mutex_);
  void cancel_remaining() REQUIRES_LOCK(mutex_);

  std::shared_ptr<MpiLink> link_;
  Mutex mutex_;  ///< MPI lets only one thread at a time test a request
  std::vector<MPI_Request> requests_ GUARDED_BY(mutex_);
  /// Number of finished requests; requests finish in order.
  std::size_t completed_ GUARDED_BY(mutex_) = 0;
};

}  // namespace lockstep::internal::comm
