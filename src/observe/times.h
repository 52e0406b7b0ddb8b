// Where the time of an iteration goes.
#pragma once

#include "base/deadline.h"

namespace lockstep::observe {

/// Seconds of one iteration on one rank. data + forward + backward + exposed + optimizer is about
/// total; communication overlaps with backward.
struct Times {
  double data = 0;
  double forward = 0;
  double backward = 0;
  double communication = 0;  ///< inside collectives, whether or not backward went on meanwhile
  double exposed = 0;        ///< of it, time that the training thread had to wait
  double wait = 0;           ///< of communication, waiting for the slowest rank to come
  double optimizer = 0;
  double total = 0;

  Times& operator+=(const Times& other);
};

inline Times& Times::operator+=(const Times& other) {
  data += other.data;
  forward += other.forward;
  backward += other.backward;
  communication += other.communication;
  exposed += other.exposed;
  wait += other.wait;
  optimizer += other.optimizer;
  total += other.total;
  return *this;
}

/// Adds the time from its making to its end to a sum.
class Span {
 public:
  explicit Span(double& sum) : sum_(sum), start_(now_seconds()) {}
  ~Span() { sum_ += now_seconds() - start_; }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  double& sum_;
  const double start_;
};

}  // namespace lockstep::observe
