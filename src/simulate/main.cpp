// lockstep-simulate REQUEST RESULT: executes every rank's steps on a simulated network, message by
// message, and writes the seconds until the last rank was done. Started by lockstep predict.
#include "simulate/platform.h"
#include "simulate/rank.h"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;
using lockstep::internal::simulate::Rank;
using lockstep::internal::simulate::Simulation;

namespace {

double simulate(Simulation& simulation) {
  // Links without SimGrid's TCP model; small stacks, because there are thousands of actors.
  std::vector<std::string> options{
      "lockstep-simulate",         "--cfg=network/model:CM02",     "--cfg=network/crosstraffic:0",
      "--cfg=network/TCP-gamma:0", "--cfg=contexts/stack-size:64", "--cfg=contexts/guard-size:0",
      "--log=root.thres:critical"};
  std::vector<char*> arguments;
  for (std::string& option : options) arguments.push_back(option.data());
  arguments.push_back(nullptr);
  int count = static_cast<int>(options.size());
  sg4::Engine engine(&count, arguments.data());
  const auto hosts = lockstep::internal::simulate::build_platform(simulation.file.request);
  const std::uint32_t per_host = simulation.file.request.per_host;
  const std::size_t ranks = simulation.file.ranks.size();
  for (std::size_t host = 0; host < ranks / per_host; ++host)
    simulation.meetings.push_back(sg4::Barrier::create(per_host));
  for (std::size_t rank = 0; rank < ranks; ++rank)
    sg4::Actor::create("rank", hosts.at(rank / per_host), Rank(simulation, static_cast<int>(rank)));
  engine.run();
  if (simulation.finished != ranks)
    throw std::runtime_error(std::to_string(ranks - simulation.finished) + " of " +
                             std::to_string(ranks) + " ranks wait forever");
  return simulation.end;
}

/// Ends this process with its parent, the only user of the result. If the parent ended before the
/// call, it no longer reads standard error either.
void end_with_parent() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd complaints{STDERR_FILENO, 0, 0};
  if (::poll(&complaints, 1, 0) == 1 && (complaints.revents & POLLERR) != 0) std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: lockstep-simulate REQUEST RESULT (started by lockstep predict)\n");
    return 2;
  }
  end_with_parent();
  try {
    Simulation simulation{.file = lockstep::internal::simulate::read_request(argv[1]),
                          .meetings = {}};
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
