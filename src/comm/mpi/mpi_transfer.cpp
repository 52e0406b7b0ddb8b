#include "comm/mpi/mpi_transfer.h"

#include <lockstep/error.h>

#include <algorithm>

namespace lockstep::internal::comm {

namespace {

constexpr std::string_view kWhat = "move a message";

}  // namespace

MpiTransfer::MpiTransfer(std::shared_ptr<MpiLink> link, std::size_t bytes, std::size_t part_bytes,
                         const Start& start)
    : link_(std::move(link)) {
  Lock lock(mutex_);
  requests_.reserve((bytes + part_bytes - 1) / part_bytes);
  try {
    for (std::size_t offset = 0; offset < bytes; offset += part_bytes) {
      const MpiRuntime::Visit visit = link_->enter();
      MPI_Request request = MPI_REQUEST_NULL;
      const std::size_t length = std::min(part_bytes, bytes - offset);
      check_mpi(start(offset, static_cast<int>(length), &request), "start a message");
      requests_.push_back(request);
    }
  } catch (...) {
    cancel_remaining();  // a constructor that throws is not followed by the destructor
    throw;
  }
}

MpiTransfer::~MpiTransfer() {
  give_up();
}

void MpiTransfer::give_up() {
  Lock lock(mutex_);
  cancel_remaining();
}

bool MpiTransfer::done() {
  link_->require_open();
  Lock lock(mutex_);
  return test_remaining();
}

bool MpiTransfer::wait_for(std::chrono::milliseconds slice) {
  return poll([this] { return done(); }, slice);
}

bool MpiTransfer::test_remaining() {
  for (; completed_ < requests_.size(); ++completed_)
    if (!test_request(requests_[completed_], kWhat)) return false;
  return true;
}

void MpiTransfer::cancel_remaining() {
  if (completed_ == requests_.size()) return;
  MpiRuntime& runtime = MpiRuntime::instance();
  link_->keep_communicator();
  try {
    for (std::size_t i = completed_; i < requests_.size(); ++i) {
      const MpiRuntime::Visit visit = runtime.enter();
      if (requests_[i] != MPI_REQUEST_NULL) MPI_Cancel(&requests_[i]);
    }
    const Deadline deadline = Deadline::after(kAbandonTime);
    for (Backoff backoff; !deadline.passed(); backoff.pause())
      if (test_remaining()) return;
  } catch (const Error&) {
    // The connection is broken, or another thread has already shut down the runtime.
  }
  runtime.shut("a message was abandoned that MPI cannot cancel");
}

}  // namespace lockstep::internal::comm
