// The texts about sync methods. docs/algorithms.md explains the same formulas.
#include "report/methods.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace lockstep::internal::report {

namespace {

struct Entry {
  std::string_view name;
  std::string_view what;
  std::string_view formula;
};

constexpr std::array kSync{
    Entry{"gather-scatter",
          "After backward, rank 0 gathers the gradients of all ranks, averages them and scatters "
          "the result, one parameter after another. All bytes pass through rank 0 while the other "
          "ranks wait.",
          "n·(W−1) bytes from rank 0, n from each of the others; 2·P collectives"},
    Entry{"p2p",
          "Like gather-scatter, but with point-to-point messages: every rank sends each gradient "
          "to rank 0, which averages them and sends the result back to each rank.",
          "n·(W−1) bytes from rank 0, n from each of the others; 2·P messages with each rank"},
    Entry{"coordinator",
          "Every rank sends all its gradients to rank 0 in one message. Rank 0 averages them and "
          "answers each rank with one message. There are few messages, but all bytes still pass "
          "through rank 0.",
          "n·(W−1) bytes from rank 0, n from each of the others; 2 messages with each rank, 1 "
          "barrier"},
    Entry{"all-reduce",
          "After backward, one all-reduce for each parameter. No rank is the centre: all ranks "
          "move the same number of bytes.",
          "2·(W−1)/W · n bytes from every rank; P all-reduces"},
    Entry{
        "ddp",
        "Gradients are stored in buckets, in the order in which backward computes them. A bucket "
        "is all-reduced as soon as its last gradient is ready, while backward computes the next "
        "ones. So communication overlaps with backward.",
        "2·(W−1)/W · n bytes from every rank; one all-reduce per bucket, overlapped with backward"},
    Entry{"sharded",
          "Every bucket is reduce-scattered while backward runs, so that each rank gets the "
          "average of 1/W of it. The rank updates that part of the weights, and an all-gather "
          "distributes all parts. Each rank stores and updates only 1/W of the optimizer state.",
          "2·(W−1)/W · n bytes from every rank; one reduce-scatter and one all-gather per bucket, "
          "the first overlapped with backward"},
    Entry{"server",
          "Parameter servers, which are threads on the first K ranks, hold the weights in equal "
          "parts. Every worker sends each server its part of the gradients and receives updated "
          "weights: after all workers have sent, or immediately with --staleness, which lets "
          "workers run ahead of the slowest one up to a limit.",
          "n/K·(W−1) + n·(K−1)/K bytes from a rank with a server, n from each of the others; 3 "
          "messages with each server"},
    Entry{"local-sgd",
          "Every worker trains on its own. Every H steps, the workers average their weights and "
          "the momentum of the optimizer. This takes 1/H of the messages, but does not train like "
          "one worker.",
          "2·(W−1)/W · n/H bytes from every rank, twice that with momentum; one all-reduce in H "
          "iterations, or two"}};

constexpr std::array kAlgorithms{
    Entry{"ring",
          "An all-reduce for each parameter, by a ring. The array is cut into W chunks. In W−1 "
          "steps, each rank passes a chunk on and adds the one that it receives; in W−1 more "
          "steps, the sums travel around the ring.",
          "2·(W−1)/W · n bytes from every rank; 2·(W−1) steps for each of P arrays"},
    Entry{"tree",
          "An all-reduce for each parameter, by a binomial tree: sums go up to rank 0, and the "
          "result comes down again. It has the fewest steps, which matters for short arrays.",
          "up to n·⌈lg W⌉ bytes from rank 0, n or more from ranks within the tree; 2·⌈lg W⌉ steps "
          "for each of P arrays"},
    Entry{"halving-doubling",
          "An all-reduce for each parameter. Partners exchange halves of their data, add, and "
          "continue with the half that they keep; then the same in reverse, without adding.",
          "2·(W−1)/W · n bytes from every rank if W is a power of two, else up to 2·n more; 2·lg W "
          "steps for each of P arrays"}};

template <std::size_t N>
const Entry* find(const std::array<Entry, N>& entries, std::string_view name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

bool in_shared_memory(const std::string& transport) {
  return transport == "shm" || transport == "thread";
}

MethodText text_of_method(const std::string& sync, const std::string& algorithm,
                          const std::string& transport) {
  const bool reduces = sync == "all-reduce" || sync == algorithm;  // "all-reduce" for "ring": 0.1.0
  const Entry* entry = reduces ? find(kAlgorithms, algorithm) : nullptr;
  if (entry == nullptr) entry = find(kSync, sync);
  if (entry == nullptr) return {};
  MethodText text{std::string(entry->what), std::string(entry->formula)};
  const bool direct = algorithm == "auto" || algorithm == "direct";
  if (sync == "all-reduce" && direct && in_shared_memory(transport))
    text.what +=
        " In shared memory, an array of up to 16 KiB takes one step, in which every rank reads the "
        "arrays of all others.";
  return text;
}

}  // namespace lockstep::internal::report
