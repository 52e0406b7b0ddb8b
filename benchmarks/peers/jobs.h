// Running one round of one contender in processes of its own, which end with it. So contenders
// alternate without getting in each other's way: none polls while another is timed.
#pragma once

#include "round.h"

#include <functional>
#include <string>
#include <vector>

namespace lockstep::internal::benchmarks {

struct JobPlan {
  int workers = 2;
  std::size_t bytes = 0;
  double seconds = 0.1;  ///< of repetitions to time
};

struct Entry {
  std::string name;                          ///< "gloo bcube"
  std::string family;                        ///< "gloo": of a family only the best counts
  std::function<Round(const JobPlan&)> run;  ///< throws Error if the job fails
};

/// All contenders, Lockstep first.
std::vector<Entry> all_entries();

}  // namespace lockstep::internal::benchmarks
