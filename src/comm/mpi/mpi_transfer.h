// MpiTransfer: one send or receive over MPI, in as many messages as its length needs.
#pragma once

#include "base/thread_annotations.h"
#include "comm/mesh/wire.h"
#include "comm/mpi/mpi_link.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace lockstep::comm {

class MpiTransfer : public Transfer {
 public:
  /// Starts one message: its first byte, its length and where MPI is to put the request.
  using Start = std::function<int(std::size_t offset, int bytes, MPI_Request* request)>;

  MpiTransfer(std::shared_ptr<MpiLink> link, std::size_t bytes, std::size_t part_bytes,
              const Start& start);

  /// Takes back what can be taken back, waits a moment for the rest, and if that was not enough
  /// shuts the runtime: see there. In detail, for Open MPI 4.1:
  /// - A receive that no message has matched yet is cancelled at once, and nothing else happens.
  /// - A receive that was matched cannot be cancelled. It ends as soon as its sender goes on
  /// sending;
  ///   if the sender is lost, never.
  /// - A send cannot be cancelled (MPI_Cancel succeeds and does nothing). A short one has been
  /// copied
  ///   and is done; a long one ends when the receiver takes it, or never.
  /// - Over shared memory and TCP, this process's memory is written only by its own MPI calls; so a
  ///   shut runtime protects it. A peer may still read what was being sent, straight from this
  ///   process's memory (process_vm_readv), and then gets what is there by then, or an error.
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
  std::size_t completed_ GUARDED_BY(mutex_) = 0;  ///< requests that are done; they end in order
};

}  // namespace lockstep::comm
