// The texts about methods. docs/algorithms.md has the same formulas, and more about them.
#include "report/methods.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace lockstep::report {

namespace {

struct Entry {
  std::string_view name;
  std::string_view what;
  std::string_view formula;
};

constexpr std::array kSync{
    Entry{"gather-scatter",
          "After backward, parameter by parameter, rank 0 gathers all ranks' gradients, averages "
          "them and scatters the result. All bytes pass through rank 0, one rank after another, "
          "while the others wait.",
          "n·(W−1) bytes from rank 0, n from each of the others; 2·P collectives"},
    Entry{"p2p",
          "Like gather-scatter, but with plain messages: every rank sends each gradient to rank 0, "
          "which averages them and sends the result back to each.",
          "n·(W−1) bytes from rank 0, n from each of the others; 2·P messages with each rank"},
    Entry{
        "coordinator",
        "Every rank sends all its gradients to rank 0 as one message; rank 0 averages and answers "
        "each with one message. Few messages, but rank 0 still carries all bytes alone.",
        "n·(W−1) bytes from rank 0, n from each of the others; 2 messages with each rank, 1 "
        "barrier"},
    Entry{"all-reduce",
          "After backward, one all-reduce for each parameter. No rank is the centre, and all move "
          "equally much. In shared memory an array of up to 16 KiB takes one meeting, in which "
          "every rank reads the arrays of all others.",
          "2·(W−1)/W · n bytes from every rank; P all-reduces"},
    Entry{
        "ddp",
        "Gradients lie in buckets in the order in which backward finishes them. A bucket is "
        "all-reduced as soon as its last gradient is ready, while backward goes on: the only "
        "method whose communication hides behind computing.",
        "2·(W−1)/W · n bytes from every rank; one all-reduce a bucket, hidden while backward goes "
        "on"},
    Entry{"sharded",
          "Every bucket is reduce-scattered while backward goes on, so that each rank gets a W-th "
          "of it as the average of all; the rank updates that part of the weights, and an "
          "all-gather gives all parts to all. Each rank keeps and updates only a W-th of the "
          "optimizer's state.",
          "2·(W−1)/W · n bytes from every rank; one reduce-scatter and one all-gather a bucket, "
          "the first hidden while backward goes on"},
    Entry{"server",
          "The weights live with parameter servers, threads on the first K ranks with an equal "
          "part each. Every worker sends each server its part of the gradients and gets updated "
          "weights back: once all have sent, or at once with --staleness, which keeps workers "
          "from waiting for the slowest as long as they are not too far ahead.",
          "n/K·(W−1) + n·(K−1)/K bytes from a rank with a server, n from each of the others; 3 "
          "messages with each server"},
    Entry{"local-sgd",
          "Every worker trains by itself; once in H steps all take the average of their weights, "
          "and of the optimizer's momentum. An H-th of the messages, but not the training of one "
          "worker any more.",
          "2·(W−1)/W · n/H bytes from every rank, twice that with momentum; one all-reduce in H "
          "iterations, or two"}};

constexpr std::array kAlgorithms{
    Entry{
        "ring",
        "An all-reduce for each parameter, by a ring: the array is cut into W chunks; in W−1 steps "
        "each rank passes a chunk on and adds the one that comes in, in W−1 more the sums travel "
        "around once.",
        "2·(W−1)/W · n bytes from every rank; 2·(W−1) steps for each of P arrays"},
    Entry{"tree",
          "An all-reduce for each parameter, by a binomial tree: sums go up to rank 0, the result "
          "comes down again. Fewest steps, which counts for short arrays.",
          "up to n·⌈lg W⌉ bytes from rank 0, n or more from ranks within the tree; 2·⌈lg W⌉ steps "
          "for each of P arrays"},
    Entry{
        "halving-doubling",
        "An all-reduce for each parameter: partners exchange halves of what they have, add, and go "
        "on with the half they keep; then the same in reverse, without adding.",
        "2·(W−1)/W · n bytes from every rank if W is a power of two, else up to 2·n more; 2·lg W "
        "steps for each of P arrays"}};

template <std::size_t N>
const Entry* find(const std::array<Entry, N>& entries, std::string_view name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

MethodText text_of_method(const std::string& sync, const std::string& algorithm) {
  const Entry* entry = sync == "all-reduce" ? find(kAlgorithms, algorithm) : nullptr;
  if (entry == nullptr) entry = find(kSync, sync);
  if (entry == nullptr) return {};
  return {std::string(entry->what), std::string(entry->formula)};
}

}  // namespace lockstep::report
