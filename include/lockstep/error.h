// The exceptions of Lockstep. There are two families:
//
//     Error          a problem that the user can fix: a bad file, a bad option, a lost peer. The
//                    message says which rank met it, what was found and what to do.
//     InternalError  a broken invariant: a bug in Lockstep.
//
// The library never prints and never exits.
#pragma once

#include <stdexcept>
#include <string>

namespace lockstep {

/// A problem that the reader of the message can fix. Catch this to report any failure of a run.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An invalid call or option: rank 7 of a world of 4, an unknown algorithm.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read or written, or whose content is invalid.
class FileError : public Error {
 public:
  using Error::Error;
};

/// Ranks of one group called different operations, or the same one with different arguments. All
/// ranks get this error, with the same list of each rank's call.
class MismatchError : public Error {
 public:
  using Error::Error;
};

/// Another rank died or left the group while this rank needed it.
class PeerLostError : public Error {
 public:
  /// `rank` was lost; `died` if it is known that its process ended.
  PeerLostError(int rank, const std::string& message, bool died = false)
      : Error(message), rank_(rank), died_(died) {}

  /// The lost rank, numbered within the group.
  int rank() const { return rank_; }
  /// True if the rank is known to have died, false if it left the group.
  bool died() const { return died_; }

 private:
  int rank_;
  bool died_;
};

/// Another rank did not do its part before the deadline, although it seems to be alive.
class TimeoutError : public Error {
 public:
  /// `rank` kept this one waiting; -1 if that is not known.
  explicit TimeoutError(const std::string& message, int rank = -1) : Error(message), rank_(rank) {}

  /// The rank that kept this one waiting, numbered within the group; -1 if that is not known.
  int rank() const { return rank_; }

 private:
  int rank_;
};

/// A bug in Lockstep, not in the program that uses it.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace lockstep
