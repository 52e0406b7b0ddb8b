#include "simulate/rank.h"

#include <algorithm>
#include <string>

namespace lockstep::internal::simulate {

namespace sg4 = simgrid::s4u;
using comm::RecordedStep;
using comm::StepKind;

namespace {

sg4::Mailbox* mailbox_of(int from, int to) {
  return sg4::Mailbox::by_name(std::to_string(from) + ">" + std::to_string(to));
}

}  // namespace

void Rank::operator()() {
  for (const RecordedStep& step : simulation_.file.ranks[static_cast<std::size_t>(rank_)])
    take(step);
  simulation_.end = std::max(simulation_.end, sg4::Engine::get_clock());
  ++simulation_.finished;
}

void Rank::take(const RecordedStep& step) {
  const Request& request = simulation_.file.request;
  const auto bytes = static_cast<double>(step.bytes);
  switch (step.kind) {
    case StepKind::send:
      return send(step);
    case StepKind::receive:
      return receive(step);
    case StepKind::wait:
      return finish(static_cast<std::size_t>(step.peer));
    case StepKind::add:
      return sg4::this_actor::sleep_for(bytes * request.per_added);
    case StepKind::copy:
      return sg4::this_actor::sleep_for(bytes * request.per_copied);
    case StepKind::meet:
      return meet();
  }
}

void Rank::send(const RecordedStep& step) {
  std::shared_ptr<Outbox>& outbox = outboxes_[step.peer];
  if (!outbox) outbox = Outbox::open(mailbox_of(rank_, step.peer));
  messages_.emplace_back(Departure{step.peer, outbox->post(step.bytes)});
}

void Rank::receive(const RecordedStep& step) {
  messages_.emplace_back(Arrival{step.peer, mailbox_of(step.peer, rank_)->get_async(&arrived_)});
}

/// Links have no latency, because it would delay the next message on the same connection. A message
/// counts as received, and as sent, one latency after its last byte has left.
void Rank::finish(std::size_t message) {
  if (const auto* departure = std::get_if<Departure>(&messages_[message])) {
    const double left = outboxes_[departure->peer]->wait_until_left(departure->number);
    return sg4::this_actor::sleep_until(left + latency_to(departure->peer));
  }
  Arrival& arrival = std::get<Arrival>(messages_[message]);
  if (!arrival.message) return;
  arrival.message->wait();
  const double left = arrival.message->get_finish_time();
  arrival.message.reset();
  sg4::this_actor::sleep_until(left + latency_to(arrival.peer));
}

void Rank::meet() {
  const Request& request = simulation_.file.request;
  simulation_.meetings[static_cast<std::size_t>(rank_) / request.per_host]->wait();
  sg4::this_actor::sleep_for(request.meeting);
}

double Rank::latency_to(int peer) const {
  const Request& request = simulation_.file.request;
  const auto per_host = static_cast<int>(request.per_host);
  return peer / per_host == rank_ / per_host ? request.meeting : request.latency;
}

}  // namespace lockstep::internal::simulate
