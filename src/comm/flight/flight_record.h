// FlightRecord: one operation of a rank, as stored in its flight recorder.
#pragma once

#include <lockstep/types.h>

#include "comm/fingerprint.h"

#include <cstdint>
#include <string>

namespace lockstep::internal::comm {

/// Why an operation failed, and the rank that caused it as far as this rank could tell.
struct FlightFailure {
  enum class Why : std::uint8_t {
    other,  ///< the operation's own error
    late,   ///< a peer missed the deadline
    lost    ///< a peer is gone
  };
  Why why = Why::other;
  std::int32_t blamed = -1;  ///< the cause, by its rank in the run; -1 if unknown

  bool operator==(const FlightFailure&) const = default;
};

struct FlightRecord {
  /// A collective of Operation; `none` stands for a message.
  Operation operation = Operation::none;
  Algorithm algorithm = Algorithm::automatic;
  bool incoming = false;       ///< messages only: received rather than sent
  std::int32_t peer = -1;      ///< messages only: the other rank, by its rank in the run
  std::uint32_t group = 0;     ///< group_mark() of the group's name
  std::uint64_t sequence = 0;  ///< collectives only: number within the group, from 1
  std::uint64_t bytes = 0;     ///< length of each rank's array, or of the message
  std::uint64_t step = 0;      ///< training step, from 1; 0 if the program never set one
  std::int32_t bucket = -1;    ///< -1: none, or unknown
  std::uint64_t number = 0;    ///< among all operations of the process, from 1
  double begin = 0;            ///< seconds on the steady clock
  double end = 0;              ///< 0 while the operation runs
  bool failed = false;         ///< the operation ended with an error
  FlightFailure failure = {};  ///< valid if `failed`

  bool is_message() const { return operation == Operation::none; }
  bool under_way() const { return end == 0; }
  /// "all_reduce", "send", "recv". The text has static lifetime.
  std::string_view name() const;
};

/// A number that identifies a group's name (FNV-1a), in records and in MPI's tags.
std::uint32_t group_mark(std::string_view group);

}  // namespace lockstep::internal::comm
