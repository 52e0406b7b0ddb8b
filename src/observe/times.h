// Where the time of an iteration goes.
#pragma once

namespace lockstep::observe {

/// Seconds of one iteration on one rank. data + forward + backward + exposed + optimizer is about
/// total. Communication is hidden where it overlaps with backward; the rest of it is exposed.
struct Times {
  double data = 0;
  double forward = 0;
  double backward = 0;
  double communication = 0;  ///< inside collectives, whether or not backward went on meanwhile
  double hidden = 0;         ///< of it, while backward went on
  double exposed = 0;  ///< the training thread spent on keeping gradients equal after backward
  double wait = 0;     ///< of communication, waiting for the slowest rank to come
  double optimizer = 0;
  double total = 0;

  Times& operator+=(const Times& other);
};

inline Times& Times::operator+=(const Times& other) {
  data += other.data;
  forward += other.forward;
  backward += other.backward;
  communication += other.communication;
  hidden += other.hidden;
  exposed += other.exposed;
  wait += other.wait;
  optimizer += other.optimizer;
  total += other.total;
  return *this;
}

}  // namespace lockstep::observe
