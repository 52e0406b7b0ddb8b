// The errors that Lockstep throws. There are two families, and only two:
//
//   Error          something its reader can fix: a bad file, a bad option, a lost peer. The message
//   says
//                  who met it, what was found and what to do.
//   InternalError  an invariant of Lockstep's own does not hold: a bug in Lockstep.
//
// The library never prints and never exits; it throws one of these and leaves the rest to its
// caller.
#pragma once

#include <stdexcept>
#include <string>

namespace lockstep {

/// Something the reader of the message can fix. Catch this to report any failure of a run.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A call or an option that makes no sense: rank 7 of a world of 4, an unknown algorithm.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read, written or believed.
class FileError : public Error {
 public:
  using Error::Error;
};

/// Ranks of one group called different operations, or the same with different arguments. Every rank
/// of the group gets this error with the same list of who called what.
class MismatchError : public Error {
 public:
  using Error::Error;
};

/// A peer died or left the group while this rank needed it.
class PeerLostError : public Error {
 public:
  PeerLostError(int rank, const std::string& message, bool died = false)
      : Error(message), rank_(rank), died_(died) {}

  /// The rank that was lost, numbered within the group.
  int rank() const { return rank_; }
  /// Whether it is known to have died, rather than to have left the group.
  bool died() const { return died_; }

 private:
  int rank_;
  bool died_;
};

/// A peer is alive, as far as can be told, but did not do its part before the deadline.
class TimeoutError : public Error {
 public:
  explicit TimeoutError(const std::string& message, int rank = -1) : Error(message), rank_(rank) {}

  /// The rank that kept this one waiting, numbered within the group; -1 where no rank is to blame.
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
