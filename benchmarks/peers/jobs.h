// Runs one round of one contender in new processes, which end with the round. So no contender polls
// while another one is timed.
#pragma once

#include "round.h"

#include <functional>
#include <string>
#include <vector>

namespace lockstep::internal::benchmarks {

struct JobPlan {
  int workers = 2;
  std::size_t bytes = 0;
  double seconds = 0.1;  ///< total time of the timed repetitions
};

struct Entry {
  std::string name;                          ///< "gloo bcube"
  std::string family;                        ///< "gloo"; the table shows the fastest of each family
  std::function<Round(const JobPlan&)> run;  ///< throws Error if the job fails
};

/// All contenders, Lockstep first.
std::vector<Entry> all_entries();

}  // namespace lockstep::internal::benchmarks
