// FlightRecord: one operation of a rank, as its flight recorder keeps it.
#pragma once

#include <lockstep/types.h>

#include "comm/fingerprint.h"

#include <cstdint>
#include <string>

namespace lockstep::comm {

/// Why an operation failed, and who is to blame as far as its rank could tell.
struct FlightFailure {
  enum class Why : std::uint8_t {
    other,  ///< an error of its own
    late,   ///< somebody did not come before the deadline
    lost    ///< somebody can come no more
  };
  Why why = Why::other;
  std::int32_t blamed = -1;  ///< by its rank in the run; -1 if that is not known

  bool operator==(const FlightFailure&) const = default;
};

struct FlightRecord {
  /// Collectives are all that Operation has; `none` stands for a message.
  Operation operation = Operation::none;
  Algorithm algorithm = Algorithm::automatic;
  bool incoming = false;       ///< of a message: it is received
  std::int32_t peer = -1;      ///< of a message: the other rank, by its rank in the run
  std::uint32_t group = 0;     ///< group_mark() of the group's name
  std::uint64_t sequence = 0;  ///< of a collective: the how-manieth of its group, from 1
  std::uint64_t bytes = 0;     ///< of the array that each rank gives, or of the message
  std::uint64_t step = 0;      ///< of the training, from 1; 0 if nobody said so
  std::int32_t bucket = -1;    ///< -1: none, or not known
  std::uint64_t number = 0;    ///< among all operations of the process, from 1
  double begin = 0;            ///< seconds on the steady clock
  double end = 0;              ///< 0 while it is under way
  bool failed = false;         ///< it ended with an error
  FlightFailure failure = {};  ///< if it did

  bool is_message() const { return operation == Operation::none; }
  bool under_way() const { return end == 0; }
  /// "all_reduce", "send", "recv"; lives as long as the program.
  std::string_view name() const;
};

/// A number that stands for a group's name (FNV-1a), in records and among MPI's tags.
std::uint32_t group_mark(std::string_view group);

}  // namespace lockstep::comm
