// A worked example: an all-reduce of small arrays with every message and every array in between.
//
// The algorithm's own code runs on all ranks, as threads, over a transport that delivers messages
// and records them. A message moves when both sides have started it, one step after the last
// message that either side waited for. So steps are counted as in docs/algorithms.md, and the
// recording does not depend on timing.
#pragma once

#include <lockstep/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::internal::comm {

constexpr int kMostWorkedRanks = 16;
constexpr std::size_t kMostWorkedElements = 64;

/// A partial sum and the ranks whose elements are in it. Trivially copyable: it travels as the
/// bytes of one int32.
struct WorkedElement {
  std::uint16_t value = 0;
  std::uint16_t ranks = 0;  ///< bit r is set if rank r's element is in the sum

  bool operator==(const WorkedElement&) const = default;
};

using WorkedArray = std::vector<WorkedElement>;

struct WorkedMessage {
  int from = 0;
  int to = 0;
  std::size_t first = 0;  ///< position of its first element in the array
  WorkedArray elements;
  bool added = false;  ///< the receiver adds it to its own elements, which it replaces otherwise

  std::size_t bytes() const { return elements.size() * sizeof(WorkedElement); }
};

struct WorkedStep {
  std::vector<WorkedMessage> messages;  ///< by sender
  std::vector<WorkedArray> arrays;      ///< of every rank, after the step
};

struct WorkedCollective {
  std::vector<WorkedArray> start;  ///< the array of every rank
  std::vector<WorkedStep> steps;

  std::size_t elements() const { return start.front().size(); }
  bool is_complete(const WorkedElement& element) const;
};

/// Sums one array per rank: rank r starts with the whole numbers from r · elements + 1. Throws
/// UsageError for an algorithm that sends no messages. REQUIRES: 2 to kMostWorkedRanks ranks, 1 to
/// kMostWorkedElements elements.
WorkedCollective worked_all_reduce(Algorithm algorithm, int ranks, std::size_t elements);

}  // namespace lockstep::internal::comm
