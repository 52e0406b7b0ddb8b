// lockstep-simulate REQUEST RESULT: executes what every rank does on a simulated network, message
// by message, and writes the seconds until the last was done. Started by lockstep predict.
#include "simulate/platform.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <fstream>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace sg4 = simgrid::s4u;
using lockstep::comm::RecordedStep;
using lockstep::comm::RecordedSteps;
using lockstep::comm::StepKind;
using lockstep::simulate::Request;

namespace {

struct Simulation {
  Request request;
  std::vector<RecordedSteps> ranks;
  std::vector<sg4::BarrierPtr> meetings;  ///< by host
  double end = 0;
};

template <typename T>
void read(std::istream& file, T* values, std::size_t count) {
  if (!file.read(reinterpret_cast<char*>(values), static_cast<std::streamsize>(count * sizeof(T))))
    throw std::runtime_error("the request ends too early");
}

Simulation read_request(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("the request cannot be read");
  Simulation simulation;
  Request& request = simulation.request;
  read(file, &request, 1);
  if (request.magic != lockstep::simulate::kMagic || request.ranks == 0 || request.per_host == 0 ||
      request.ranks % request.per_host != 0)
    throw std::runtime_error("the request is not one of this version");
  for (std::uint32_t rank = 0; rank < request.ranks; ++rank) {
    std::uint64_t count = 0;
    read(file, &count, 1);
    read(file, simulation.ranks.emplace_back(count).data(), count);
  }
  return simulation;
}

/// One rank: takes its steps in their order.
class Rank {
 public:
  Rank(Simulation& simulation, int rank)
      : simulation_(simulation), rank_(rank), steps_(simulation.ranks[std::size_t(rank)]) {}

  void operator()() {
    for (const RecordedStep& step : steps_) take(step);
    simulation_.end = std::max(simulation_.end, sg4::Engine::get_clock());
  }

 private:
  void take(const RecordedStep& step) {
    const Request& request = simulation_.request;
    const auto bytes = static_cast<double>(step.bytes);
    switch (step.kind) {
      case StepKind::send:
        keep_few_sends();
        sends_.push_back(messages_.size());
        messages_.push_back(mailbox(rank_, step.peer)->put_async(&nothing_, step.bytes));
        break;
      case StepKind::receive:
        messages_.push_back(mailbox(step.peer, rank_)->get_async(&arrived_));
        break;
      case StepKind::wait:
        finish(static_cast<std::size_t>(step.peer));
        break;
      case StepKind::add:
        sg4::this_actor::sleep_for(bytes * request.per_added);
        break;
      case StepKind::copy:
        sg4::this_actor::sleep_for(bytes * request.per_copied);
        break;
      case StepKind::meet:
        simulation_.meetings[std::size_t(rank_) / request.per_host]->wait();
        sg4::this_actor::sleep_for(request.meeting);
        break;
    }
  }

  void finish(std::size_t message) {
    if (messages_[message]) messages_[message]->wait();
    messages_[message].reset();
  }

  /// Whatever an actor has not waited for, SimGrid looks through at every step, and a ring waits
  /// for its thousands of sends only at its end. To wait for one that is twice as old as those that
  /// are sent before anything is received changes nothing: its neighbours have long gone on with
  /// it.
  void keep_few_sends() {
    for (; sends_.size() >= few_; sends_.pop_front()) finish(sends_.front());
  }

  /// Sends before the first wait.
  static std::size_t first_burst(const RecordedSteps& steps) {
    std::size_t sends = 0;
    for (const RecordedStep& step : steps) {
      if (step.kind == StepKind::wait) break;
      if (step.kind == StepKind::send) ++sends;
    }
    return sends;
  }

  sg4::Mailbox* mailbox(int from, int to) {
    const std::int64_t key = std::int64_t(from) << 32 | to;
    sg4::Mailbox*& found = mailboxes_[key];
    if (found == nullptr)
      found = sg4::Mailbox::by_name(std::to_string(from) + ">" + std::to_string(to));
    return found;
  }

  Simulation& simulation_;
  const int rank_;
  const RecordedSteps& steps_;
  std::vector<sg4::CommPtr> messages_;  ///< null once they are done
  std::deque<std::size_t> sends_;       ///< of them, the latest sends
  const std::size_t few_ = std::max<std::size_t>(16, 2 * first_burst(steps_));
  std::unordered_map<std::int64_t, sg4::Mailbox*> mailboxes_;
  int nothing_ = 0;
  int* arrived_ = nullptr;
};

double simulate(Simulation& simulation) {
  // Links as they are, without a model of TCP; small stacks, because there are thousands.
  std::vector<std::string> options{"lockstep-simulate",
                                   "--cfg=network/model:CM02",
                                   "--cfg=network/crosstraffic:0",
                                   "--cfg=contexts/stack-size:64",
                                   "--cfg=contexts/guard-size:0",
                                   "--log=root.thres:critical"};
  std::vector<char*> arguments;
  for (std::string& option : options) arguments.push_back(option.data());
  arguments.push_back(nullptr);
  int count = static_cast<int>(options.size());
  sg4::Engine engine(&count, arguments.data());
  const auto hosts = lockstep::simulate::build_platform(simulation.request);
  const std::uint32_t per_host = simulation.request.per_host;
  for (std::size_t host = 0; host < simulation.ranks.size() / per_host; ++host)
    simulation.meetings.push_back(sg4::Barrier::create(per_host));
  for (std::size_t rank = 0; rank < simulation.ranks.size(); ++rank)
    sg4::Actor::create("rank", hosts.at(rank / per_host), Rank(simulation, static_cast<int>(rank)));
  engine.run();
  return simulation.end;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "lockstep-simulate REQUEST RESULT: lockstep predict starts it\n");
    return 2;
  }
  try {
    Simulation simulation = read_request(argv[1]);
    const double seconds = simulate(simulation);
    std::ofstream result(argv[2]);
    result.precision(17);
    result << seconds << "\n";
    return result.flush() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lockstep-simulate: %s\n", error.what());
    return 1;
  }
}
