// n bytes, p ranks. A message of m bytes takes α + mβ, and a rank waits for each message before the
// next, unless stated otherwise below; combining m bytes takes mγ. Every collective begins with an
// agreement.
#include "predict/closed_forms.h"

#include <lockstep/error.h>

#include "comm/algorithms.h"
#include "comm/auto_table.h"
#include "comm/collectives/ring.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>

namespace lockstep::internal::predict {

using comm::Operation;
using comm::RecordedWorld;

namespace {

constexpr double kSegment = comm::kRingSegmentBytes;
constexpr double kWindow = comm::kRingWindow * kSegment;

int ceil_log2(int ranks) {
  return std::bit_width(static_cast<unsigned>(ranks - 1));
}

/// star: rank 0 exchanges a message with each of the others in turn, so nothing overlaps: p−1
/// messages of m bytes, each combined before the next where it adds.
Cost star(double bytes, int ranks, double times, double adding_times) {
  const double others = ranks - 1;
  return {.messages = times * others,
          .bytes = times * others * bytes,
          .added = adding_times * others * bytes,
          .footprint = (ranks + adding_times) * bytes};
}

/// tree: one message per level, ⌈lg p⌉ levels: rank 0 takes part in every level on the way up, and
/// so does some leaf on the way down. There are p−1 messages each way. A rank that adds needs space
/// for another array.
Cost tree(double bytes, int ranks, double times, double adding_times) {
  const double levels = ceil_log2(ranks);
  return {.messages = times * levels,
          .bytes = times * levels * bytes,
          .added = adding_times * levels * bytes,
          .busy = (ranks - 1) / levels,
          .footprint = (ranks + adding_times * (ranks - 1) / levels) * bytes};
}

/// Messages, bytes and additions one after another.
Cost in_turn(const Cost& a, const Cost& b, double times = 1) {
  return {.messages = a.messages + times * b.messages,
          .bytes = a.bytes + times * b.bytes,
          .added = a.added + times * b.added};
}

Cost longest(std::initializer_list<Cost> costs, const NetworkModel& network) {
  return *std::max_element(costs.begin(), costs.end(), [&](const Cost& a, const Cost& b) {
    return a.seconds(network) < b.seconds(network);
  });
}

/// ring: p−1 steps that add and p−1 that do not, or one of the two. In every step all ranks send a
/// chunk of c = n/p, in segments of at most S bytes that are forwarded on arrival. A step takes as
/// long as its slowest resource: the link (cβ), the rank that adds (cγ), or a segment until it can
/// be forwarded (α + S(β+γ)); the last step takes until its last segment arrives. Between the steps
/// that add and the others, the critical path leads over the first segment; or over the last one if
/// adding is slower than sending, because only a window of the following segments has arrived; or
/// the link is never idle. If cores carry the messages, each message is their work from beginning
/// to end, and nothing overlaps.
Cost ring(double bytes, int ranks, bool reduces, bool gathers, const NetworkModel& network) {
  const double chunk = bytes / ranks;
  if (network.by_cores()) {
    const double steps = (ranks - 1) * (int{reduces} + int{gathers});
    return {.messages = steps * std::max(1.0, std::ceil(chunk / kSegment)),
            .bytes = steps * chunk,
            .added = reduces ? (ranks - 1) * chunk : 0,
            .busy = static_cast<double>(ranks),
            .footprint = ranks * bytes};
  }
  const double segment = std::min(chunk, kSegment);
  const double last = chunk - std::max(0.0, std::ceil(chunk / kSegment) - 1) * kSegment;
  const Cost link{.bytes = chunk}, adder{.added = chunk};
  const Cost passed{.messages = 1, .bytes = segment};
  const Cost added_and_passed{.messages = 1, .bytes = segment, .added = segment};
  const Cost gathered{.messages = 1, .bytes = chunk};
  const Cost reduced = longest({{.messages = 1, .bytes = chunk, .added = last},
                                {.messages = 1, .bytes = segment, .added = chunk}},
                               network);
  const double steps = ranks - 2;  // all steps but the last
  Cost before;
  if (reduces) before = in_turn(before, longest({link, adder, added_and_passed}, network), steps);
  if (gathers) before = in_turn(before, longest({link, passed}, network), steps);
  Cost cost = in_turn(before, gathers ? gathered : reduced);
  if (reduces && gathers)
    cost = longest({in_turn(gathered, link, 2 * steps + 1), in_turn(cost, added_and_passed),
                    in_turn(in_turn(before, reduced),
                            {.messages = 1, .bytes = std::max(last, chunk - kWindow)})},
                   network);
  cost.busy = ranks;
  cost.footprint = ranks * bytes;
  return cost;
}

/// halving-doubling: lg p exchanges of n/2, n/4 … n/p, which sum to n(p−1)/p, added on arrival; the
/// same in reverse without adding. With p = P + r, P the largest power of two, r ranks send their
/// arrays to a partner first (α + nβ + nγ) and receive the result last (α + nβ). All ranks need
/// space for half an array more.
Cost halving_doubling(double bytes, int ranks, bool gathers) {
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  const double halves = gathers ? 2 : 1;
  const double part = bytes * (power - 1) / power;
  Cost cost{.messages = halves * ceil_log2(power),
            .bytes = halves * part,
            .added = part,
            .busy = static_cast<double>(power),
            .footprint = 1.5 * ranks * bytes};
  if (power == ranks) return cost;
  cost.messages += 2;
  cost.bytes += 2 * bytes;
  cost.added += bytes;
  return cost;
}

/// direct: between two meetings every rank works on its 1/p of all arrays. All-reduce: reads it
/// from the p−1 others, adds, and writes it back. Reduce-scatter only reads; all-gather and
/// broadcast copy.
Cost direct(Operation operation, double bytes, int ranks) {
  const double others = bytes * (ranks - 1) / ranks;
  Cost cost{.meetings = 2, .busy = static_cast<double>(ranks), .footprint = ranks * bytes};
  const bool reduces = operation == Operation::all_reduce || operation == Operation::reduce_scatter;
  cost.copied = operation == Operation::all_reduce  ? 2 * others
                : operation == Operation::broadcast ? bytes
                                                    : others;
  if (reduces) cost.added = others;
  return cost;
}

/// hierarchical: a direct reduce-scatter among the g ranks of a host, an all-reduce of n/g bytes
/// between the N hosts on each of g lanes, which use the host's link together, and a direct
/// all-gather.
Cost hierarchical(double bytes, const RecordedWorld& world, const NetworkModel& network) {
  const int ranks = world.per_host;
  NetworkModel one_link = network;
  one_link.per_byte *= ranks;
  Cost cost = cost_of({Operation::all_reduce, Algorithm::automatic, bytes / ranks},
                      {world.hosts(), 1}, one_link);
  cost.agreements = cost.peers = 0;
  cost.bytes *= ranks;
  for (Operation operation : {Operation::reduce_scatter, Operation::all_gather}) {
    const Cost local = direct(operation, bytes, ranks);
    cost.meetings += local.meetings;
    cost.copied += local.copied;
    cost.added += local.added;
  }
  cost.busy = world.size;
  cost.footprint = world.size * bytes;
  return cost;
}

/// native: the library's algorithm is not known. It is assumed to be the best of the above.
Cost native(const Collective& collective, const RecordedWorld& world, const NetworkModel& network) {
  Cost best;
  for (Algorithm algorithm : comm::algorithms_of(collective.operation, {})) {
    const Cost cost =
        cost_of({collective.operation, algorithm, collective.bytes}, {world.size, 1}, network);
    if (best.messages == 0 || cost.seconds(network) < best.seconds(network)) best = cost;
  }
  best.agreements = best.peers = 0;
  return best;
}

Cost all_reduce(const Collective& what, const RecordedWorld& world, const NetworkModel& network) {
  switch (what.algorithm) {
    case Algorithm::star:
      return star(what.bytes, world.size, 2, 1);
    case Algorithm::tree:
      return tree(what.bytes, world.size, 2, 1);
    case Algorithm::halving_doubling:
      return halving_doubling(what.bytes, world.size, true);
    case Algorithm::hierarchical:
      return hierarchical(what.bytes, world, network);
    default:
      return ring(what.bytes, world.size, true, true, network);
  }
}

/// Cost of the message-passing algorithms. If ranks have parts, `bytes` is the size of the whole
/// array.
Cost by_messages(const Collective& what, const RecordedWorld& world, const NetworkModel& network) {
  const int ranks = world.size;
  const bool is_star = what.algorithm == Algorithm::star;
  switch (what.operation) {
    case Operation::all_reduce:
      return all_reduce(what, world, network);
    case Operation::reduce:
      return is_star ? star(what.bytes, ranks, 1, 1) : tree(what.bytes, ranks, 1, 1);
    case Operation::broadcast:
      return is_star ? star(what.bytes, ranks, 1, 0) : tree(what.bytes, ranks, 1, 0);
    case Operation::reduce_scatter:
      if (what.algorithm == Algorithm::halving_doubling)
        // For other numbers of ranks it is a whole all-reduce, of which each rank keeps a part.
        return halving_doubling(what.bytes, ranks, !std::has_single_bit(unsigned(ranks)));
      return ring(what.bytes, ranks, true, false, network);
    case Operation::all_gather:
      return ring(what.bytes, ranks, false, true, network);
    case Operation::gather:
    case Operation::scatter:  // one message between root and each rank: a star of parts
      return star(what.bytes / ranks, ranks, 1, 0);
    default:  // a barrier is just an agreement
      return {};
  }
}

Cost through_memory(const Collective& what, const RecordedWorld& world,
                    const NetworkModel& network) {
  NetworkModel memory = network;
  memory.latency = network.meeting;
  memory.per_byte = network.per_copied;
  Cost cost = what.algorithm == Algorithm::native ? native(what, world, memory)
                                                  : by_messages(what, world, memory);
  cost.meetings += cost.messages + 1;
  cost.copied += cost.bytes;
  cost.messages = cost.bytes = 0;
  return cost;
}

std::string_view transport_of(const RecordedWorld& world) {
  if (world.per_host == 1) return "gloo";
  return world.hosts() == 1 ? "shm" : "shm+gloo";
}

}  // namespace

bool in_memory(const RecordedWorld& world, const NetworkModel& network) {
  return world.hosts() == 1 && world.per_host > 1 && !network.by_cores();
}

comm::Offers offers_of(const RecordedWorld& world) {
  return {.shared_memory = world.per_host > 1 && world.hosts() == 1,
          .hierarchy = world.per_host > 1 && world.hosts() > 1,
          .native = false};
}

Algorithm resolve(const Collective& collective, const RecordedWorld& world) {
  if (collective.algorithm != Algorithm::automatic) return collective.algorithm;
  const comm::Offers offers = offers_of(world);
  if (collective.operation == Operation::all_reduce)
    return comm::pick(comm::auto_table(), transport_of(world), offers, world.size,
                      static_cast<std::uint64_t>(collective.bytes));
  const auto algorithms = comm::algorithms_of(collective.operation, offers);
  return algorithms.empty() ? Algorithm::automatic : algorithms.front();
}

Cost cost_of(const Collective& collective, const RecordedWorld& world,
             const NetworkModel& network) {
  Collective what = collective;
  comm::Offers offers = offers_of(world);
  offers.native = true;
  comm::require_algorithm(what.operation, comm::name_of(what.operation), what.algorithm, offers,
                          transport_of(world));
  what.algorithm = resolve(what, world);
  Cost cost;
  if (world.size > 1) {
    if (what.algorithm == Algorithm::direct)
      cost = direct(what.operation, what.bytes, world.size);
    else if (in_memory(world, network))
      cost = through_memory(what, world, network);
    else if (what.algorithm == Algorithm::native)
      cost = native(what, world, network);
    else
      cost = by_messages(what, world, network);
    const bool meets = what.algorithm == Algorithm::direct || in_memory(world, network);
    if (!meets) cost.agreements = 1, cost.peers = world.size - 1;
  }
  cost.busy = std::min<double>(cost.busy, world.size);
  return cost;
}

}  // namespace lockstep::internal::predict
