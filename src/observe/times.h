// Where the time of an iteration goes.
#pragma once

#include <utility>

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

/// All of them, with the names that files give them.
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

}  // namespace lockstep::observe
