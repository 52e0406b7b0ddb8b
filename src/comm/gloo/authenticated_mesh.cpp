#include "comm/gloo/authenticated_mesh.h"

#include <unistd.h>

#include <sched.h>

namespace lockstep::internal::comm {

AuthenticatedPair::AuthenticatedPair(gloo::transport::tcp::Context* context,
                                     gloo::transport::tcp::Device* device, int rank,
                                     UniqueFd connection)
    : Pair(context, device, rank, std::chrono::milliseconds(0)) {
  // A pair begins to listen when it is made. Lockstep does not need that, and a process that has
  // connected to it is not an authenticated peer.
  std::lock_guard<std::mutex> lock(m_);
  if (fd_ >= 0) {
    device_->unregisterDescriptor(fd_, this);
    ::close(fd_);
  }
  fd_ = connection.release();
  handleConnected();
}

void AuthenticatedPair::handleEvents(int events) {
  if (std::unique_lock<std::mutex> lock(m_, std::try_to_lock); !lock) {
    ::sched_yield();
    return;
  }
  Pair::handleEvents(events);
}

void AuthenticatedMesh::add(int rank, UniqueFd connection) {
  pairs_[static_cast<std::size_t>(rank)] =
      std::make_unique<AuthenticatedPair>(this, device_.get(), rank, std::move(connection));
}

void AuthenticatedMesh::close() {
  for (auto& pair : pairs_)
    if (pair) pair->close();
}

bool ProbedBuffer::wait_for(std::chrono::milliseconds slice) {
  std::unique_lock<std::mutex> lock(m_);
  auto is_over = [&] { return recvCompletions_ + sendCompletions_ > 0 || ex_ != nullptr; };
  // Only one of the two is signalled: a buffer either sends or receives.
  std::condition_variable& rung = receives_ ? recvCv_ : sendCv_;
  if (!is_over() && slice.count() > 0) rung.wait_for(lock, slice, is_over);
  if (recvCompletions_ + sendCompletions_ > 0) return true;
  if (ex_) std::rethrow_exception(ex_);
  return false;
}

}  // namespace lockstep::internal::comm
