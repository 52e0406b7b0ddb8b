#include "simulate/outbox.h"

namespace lockstep::internal::simulate {

namespace sg4 = simgrid::s4u;

std::shared_ptr<Outbox> Outbox::open(sg4::Mailbox* mailbox) {
  std::shared_ptr<Outbox> outbox(new Outbox(mailbox));
  sg4::Actor::create("outbox", sg4::this_actor::get_host(), [outbox] {
    outbox->send_all();
  })->daemonize();
  return outbox;
}

std::size_t Outbox::post(std::uint64_t bytes) {
  bytes_.push_back(bytes);
  posted_->release();
  return bytes_.size() - 1;
}

double Outbox::wait_until_left(std::size_t message) {
  // The semaphore may have been released for messages that were not waited for: check again.
  while (departures_.size() <= message) left_->acquire();
  return departures_[message];
}

void Outbox::send_all() {
  for (;;) {
    posted_->acquire();
    mailbox_->put(&nothing_, bytes_[departures_.size()]);
    departures_.push_back(sg4::Engine::get_clock());
    left_->release();
  }
}

}  // namespace lockstep::internal::simulate
