// The steps of a rank in a collective, recorded instead of executed.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::internal::comm {

enum class StepKind : std::uint32_t {
  send,     ///< starts to send `bytes` to `peer`
  receive,  ///< starts to receive `bytes` from `peer`
  wait,     ///< waits for message number `peer`; sends and receives are counted together from 0
  add,      ///< combines `bytes` with its own
  copy,     ///< reads `bytes` from the memory of other ranks on its host, or writes them there
  meet      ///< waits until all ranks of its host have arrived (a barrier)
};

/// Trivially copyable, because files store it.
struct RecordedStep {
  StepKind kind = StepKind::wait;
  std::int32_t peer = 0;
  std::uint64_t bytes = 0;

  bool operator==(const RecordedStep&) const = default;
};

/// The steps of one rank, in order.
using RecordedSteps = std::vector<RecordedStep>;

/// A world of `size` ranks, `per_host` consecutive ones on each host. REQUIRES: per_host divides
/// size.
struct RecordedWorld {
  int size = 1;
  int per_host = 1;

  int hosts() const { return size / per_host; }
};

}  // namespace lockstep::internal::comm
