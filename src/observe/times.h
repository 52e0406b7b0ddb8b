// Times: the parts of an iteration's time.
#pragma once

#include <utility>

namespace lockstep::internal::observe {

/// Seconds of one iteration on one rank. data + forward + backward + exposed + optimizer is about
/// total. Communication that overlaps with backward is hidden, the rest is exposed: waiting for
/// other ranks (wait), and moving gradients (the rest of exposed).
struct Times {
  double data = 0;
  double forward = 0;
  double backward = 0;
  double communication = 0;  ///< inside collectives, during and after backward
  double hidden = 0;         ///< part of communication that overlaps with backward
  double exposed = 0;        ///< time the training thread synchronises gradients after backward
  double wait = 0;           ///< part of exposed until the last rank had its gradients
  double optimizer = 0;
  double total = 0;

  Times& operator+=(const Times& other);
};

/// Every part with its name in files.
inline constexpr std::pair<const char*, double Times::*> kTimes[] = {
    {"data", &Times::data},         {"forward", &Times::forward},
    {"backward", &Times::backward}, {"communication", &Times::communication},
    {"hidden", &Times::hidden},     {"exposed", &Times::exposed},
    {"wait", &Times::wait},         {"optimizer", &Times::optimizer},
    {"total", &Times::total}};

inline Times& Times::operator+=(const Times& other) {
  for (const auto& [name, part] : kTimes) this->*part += other.*part;
  return *this;
}

}  // namespace lockstep::internal::observe
