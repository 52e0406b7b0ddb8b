// Rank: an actor that executes a rank's steps in order.
#pragma once

#include "simulate/outbox.h"
#include "simulate/request_file.h"

#include <unordered_map>
#include <variant>
#include <vector>

namespace lockstep::internal::simulate {

/// The state of all ranks.
struct Simulation {
  RequestFile file;
  std::vector<simgrid::s4u::BarrierPtr> meetings;  ///< by host
  std::size_t finished = 0;                        ///< number of finished ranks
  double end = 0;                                  ///< time at which the last one finished
};

class Rank {
 public:
  /// REQUIRES: the simulation outlives this object.
  Rank(Simulation& simulation, int rank) : simulation_(simulation), rank_(rank) {}

  void operator()();

 private:
  struct Departure {
    int peer;
    std::size_t number;  ///< message number in the outbox
  };
  struct Arrival {
    int peer;
    simgrid::s4u::CommPtr message;
  };

  void take(const comm::RecordedStep& step);
  void send(const comm::RecordedStep& step);
  void receive(const comm::RecordedStep& step);
  void finish(std::size_t message);
  void meet();
  double latency_to(int peer) const;

  Simulation& simulation_;
  const int rank_;
  std::unordered_map<int, std::shared_ptr<Outbox>> outboxes_;  ///< by peer
  std::vector<std::variant<Departure, Arrival>> messages_;
  int* arrived_ = nullptr;
};

}  // namespace lockstep::internal::simulate
