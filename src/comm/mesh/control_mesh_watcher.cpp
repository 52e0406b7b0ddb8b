// ControlMesh: the thread that sleeps until a connection ends.
#include "comm/mesh/control_mesh.h"

#include <poll.h>

namespace lockstep::internal::comm {

namespace {

/// How long a watcher that does not read leaves data in the sockets. Less than the time after which
/// a sender concludes from a full buffer that this host is dead (detect_dead_hosts).
constexpr std::chrono::milliseconds kReadAfter{1000};

}  // namespace

void ControlMesh::wake_watcher() {
  wake_.wake();
}

void ControlMesh::watch() {
  while (watch_once()) {
  }
}

/// Sleeps until a connection ends, or until the watcher has work to do; false when closing.
bool ControlMesh::watch_once() {
  std::vector<pollfd> watched{{wake_.fd(), POLLIN, 0}};
  std::vector<int> ranks{-1};
  {
    Lock lock(mutex_);
    if (closing_) return false;
    for (int rank : others()) {
      const ControlLink& link = members_[static_cast<std::size_t>(rank)].link;
      if (link.presence() != ControlLink::Presence::present) continue;
      short events = POLLRDHUP;
      if (reading_ || catching_up_) events |= POLLIN;
      if (link.has_unsent()) events |= POLLOUT;
      watched.push_back({link.fd(), events, 0});
      ranks.push_back(rank);
    }
  }
  const bool idle =
      ::poll(watched.data(), watched.size(), static_cast<int>(kReadAfter.count())) == 0;
  wake_.reset();
  Lock lock(mutex_);
  bool caught = false;
  for (std::size_t i = 1; i < watched.size(); ++i) {
    if (watched[i].revents != 0 || idle) caught |= read_from(ranks[i]);
  }
  // Announcements that no thread read for a while may be many.
  catching_up_ = caught && (idle || catching_up_);
  if (agreeing_) nudge_.wake();
  return true;
}

}  // namespace lockstep::internal::comm
