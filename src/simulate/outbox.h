// Outbox: the messages of one rank to another. They are sent one after another, as on one
// connection, each when its peer is ready.
#pragma once

#include <cstdint>
#include <memory>
#include <simgrid/s4u.hpp>
#include <vector>

namespace lockstep::internal::simulate {

class Outbox {
 public:
  /// Starts the sending actor. REQUIRES: called by the actor that posts and waits.
  static std::shared_ptr<Outbox> open(simgrid::s4u::Mailbox* mailbox);

  /// Returns the message's number.
  std::size_t post(std::uint64_t bytes);

  /// Waits until a message was sent, and returns the time at which it was.
  double wait_until_left(std::size_t message);

 private:
  explicit Outbox(simgrid::s4u::Mailbox* mailbox) : mailbox_(mailbox) {}
  void send_all();

  simgrid::s4u::Mailbox* const mailbox_;
  const simgrid::s4u::SemaphorePtr posted_ = simgrid::s4u::Semaphore::create(0);
  const simgrid::s4u::SemaphorePtr left_ = simgrid::s4u::Semaphore::create(0);
  std::vector<std::uint64_t> bytes_;  ///< size of every message
  std::vector<double> departures_;    ///< times at which messages were sent
  int nothing_ = 0;
};

}  // namespace lockstep::internal::simulate
