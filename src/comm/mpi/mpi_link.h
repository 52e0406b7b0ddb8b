// MpiLink: a group's communicator, kept by its wire and by all transfers under way on it.
#pragma once

#include "base/deadline.h"
#include "comm/mpi/mpi_calls.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::comm {

/// Any thread may call it.
class MpiLink {
 public:
  /// Meets the other members; see make_mpi_wire.
  static std::shared_ptr<MpiLink> meet(const std::vector<int>& members, const std::string& group,
                                       const WaitLimit& limit);
  ~MpiLink();
  MpiLink(const MpiLink&) = delete;
  MpiLink& operator=(const MpiLink&) = delete;

  MPI_Comm communicator() const { return communicator_; }

  /// Throws Error if the link was closed.
  void require_open() const;

  /// To be held while inside MPI. Throws like require_open.
  MpiRuntime::Visit enter() const;

  void close();

  /// Some message may be left on the communicator, so that nobody else may ever get its number.
  void keep_communicator() { free_ = false; }

 private:
  MpiLink(MPI_Comm communicator, std::string group);

  const MPI_Comm communicator_;
  const std::string group_;
  std::atomic<bool> closed_ = false;
  std::atomic<bool> free_ = true;
};

}  // namespace lockstep::comm
