// The communicator without torch: collectives, messages between two ranks, and smaller groups.
//   lockstep launch --workers 4 -- ./collectives
#include <lockstep/error.h>
#include <lockstep/init.h>

#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

namespace {

void run(lockstep::Group& group) {
  // A blocking collective: every rank gets the sum of all ranks' arrays.
  std::vector<double> values(3, group.rank() + 1.0);
  group.all_reduce(values);

  // An asynchronous one, on memory that all ranks of a host can reach. The array belongs to the
  // collective until wait() returns.
  const lockstep::Memory memory = group.allocate(1 << 20);
  const std::span<float> gradients = memory.as<float>();
  for (float& gradient : gradients) gradient = static_cast<float>(group.rank());
  lockstep::Work average = group.all_reduce_async(gradients, lockstep::ReduceOp::average);
  // The rank may compute something else here.
  average.wait();

  // Messages: each rank sends its number to the next one, around a ring.
  const int next = (group.rank() + 1) % group.size();
  const int previous = (group.rank() + group.size() - 1) % group.size();
  const std::vector<std::int32_t> mine(1, group.rank());
  std::vector<std::int32_t> received(1);
  if (group.size() > 1) {
    lockstep::Work sent = group.isend(mine, next);
    group.recv(received, previous);
    sent.wait();
  }

  // Ranks with even and with odd numbers form a group each.
  lockstep::Group part = group.split(group.rank() % 2);
  std::vector<std::int64_t> members(1, 1);
  part.all_reduce(members);

  if (group.rank() == 0)
    std::printf("%d ranks over %s: sum %.0f, average %.2f, a message from rank %d, a part of %d\n",
                group.size(), group.transport().data(), values[0], gradients[0], received[0],
                static_cast<int>(members[0]));
}

}  // namespace

int main() {
  try {
    lockstep::Group group = lockstep::init();
    run(group);
  } catch (const lockstep::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
