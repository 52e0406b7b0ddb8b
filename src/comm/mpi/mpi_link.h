// MpiLink: a group's communicator, shared by its wire and by all running transfers on it.
#pragma once

#include "base/deadline.h"
#include "comm/mpi/mpi_calls.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::internal::comm {

/// Thread safety: any thread.
class MpiLink {
 public:
  /// Creates the communicator together with the other members; see make_mpi_wire.
  static std::shared_ptr<MpiLink> meet(const std::vector<int>& members, const std::string& group,
                                       const WaitLimit& limit);
  ~MpiLink();
  MpiLink(const MpiLink&) = delete;
  MpiLink& operator=(const MpiLink&) = delete;

  MPI_Comm communicator() const { return communicator_; }

  /// Throws Error if the link was closed.
  void require_open() const;

  /// Hold the result while inside MPI. Throws like require_open.
  MpiRuntime::Visit enter() const;

  void close();

  /// Marks the communicator as possibly having undelivered messages, so that its number is never
  /// reused.
  void keep_communicator() { free_ = false; }

 private:
  MpiLink(MPI_Comm communicator, std::string group);

  const MPI_Comm communicator_;
  const std::string group_;
  std::atomic<bool> closed_ = false;
  std::atomic<bool> free_ = true;
};

}  // namespace lockstep::internal::comm
