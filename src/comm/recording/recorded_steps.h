// What a rank does in a collective, written down instead of done.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::comm {

enum class StepKind : std::uint32_t {
  send,     ///< starts to send `bytes` to `peer`
  receive,  ///< starts to receive `bytes` from `peer`
  wait,     ///< until the message with the number `peer` is done: sends and receives count from 0
  add,      ///< combines `bytes` with its own
  copy,     ///< reads `bytes` from its neighbours' memory, or writes them there
  meet      ///< waits until all ranks of its host are here
};

/// Trivially copyable: files hold it.
struct RecordedStep {
  StepKind kind = StepKind::wait;
  std::int32_t peer = 0;
  std::uint64_t bytes = 0;

  bool operator==(const RecordedStep&) const = default;
};

/// One rank's, in its order.
using RecordedSteps = std::vector<RecordedStep>;

/// A world of `size` ranks, of which each host has `per_host` in a row. REQUIRES: per_host divides
/// size.
struct RecordedWorld {
  int size = 1;
  int per_host = 1;

  int hosts() const { return size / per_host; }
};

}  // namespace lockstep::comm
